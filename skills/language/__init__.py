"""The workflow language: located YAML, `${...}` expressions, shapes, and the reader that checks a whole workflow."""
