"""Checks that grade what an agent left behind, one package an application; grading, near-misses and gates.

Importing this package registers every check of ours in `CHECKS`.
"""

from verifiers import answer as answer
from verifiers import calc as calc
from verifiers import files as files
from verifiers import mail as mail
from verifiers.base import CHECKS, AgentFault, Args, Case, Check, Finding, Mutant, Tree, check, mutants
from verifiers.grading import grade, grader_error
from verifiers.pool import GraderPool
from verifiers.serving import Limits

__all__ = [
    "CHECKS",
    "AgentFault",
    "Args",
    "Case",
    "Check",
    "Finding",
    "GraderPool",
    "Limits",
    "Mutant",
    "Tree",
    "check",
    "grade",
    "grader_error",
    "mutants",
]
