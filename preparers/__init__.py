"""Preparers, one package an application. Importing this package registers all of them in `preparers.base.PREPARERS`."""

from preparers import calc as calc
from preparers import files as files
from preparers import thunderbird as thunderbird
