"""Checks that grade what an agent left behind, one package an application; grading, near-misses and gates.

Importing this package registers every check of ours in `verifiers.base.CHECKS`.
"""

from verifiers import answer as answer
from verifiers import files as files
from verifiers import mail as mail
