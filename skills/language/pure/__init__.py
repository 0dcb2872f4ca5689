"""The language's functions, by what they work on. Importing this package registers them all."""

from skills.language.pure import cells, dates, lists, numbers, paths, text

__all__ = ["cells", "dates", "lists", "numbers", "paths", "text"]
