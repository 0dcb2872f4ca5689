"""Teachers: whoever acts in an episode, one file each, by name in `TEACHERS`."""

from forge.harness.teachers.base import TEACHERS, Cast, Response, Teacher, View, teacher

__all__ = ["TEACHERS", "Cast", "Response", "Teacher", "View", "teacher"]
