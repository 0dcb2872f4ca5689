"""Preparers of files and folders: `files.tree` and `files.document`."""

from preparers.files import document as document
from preparers.files import tree as tree
