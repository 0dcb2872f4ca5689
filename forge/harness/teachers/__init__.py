"""Teachers: whoever acts in an episode, one file each, by name in `TEACHERS`."""

from forge.harness.teachers.base import TEACHERS, Cast, Response, Teacher, View, teacher
from forge.harness.teachers.llm import LlmTeacher
from forge.harness.teachers.oracle import OracleTeacher

__all__ = ["TEACHERS", "Cast", "LlmTeacher", "OracleTeacher", "Response", "Teacher", "View", "teacher"]
