"""Prompts: Jinja templates in files, strict about undefined names, versioned by the hash of their text.

A template is `NAME.jinja` with one block for each message, named after its role: `{% block system %}...{% endblock %}`, then
`{% block user %}`. A block of another name (`system_tail`) is a piece for its own template. Values are text and nothing more:
what a value holds is never read as a template.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from forge.records import InputError

if TYPE_CHECKING:
    from jinja2 import Environment, Template

ROLES = ("system", "user", "assistant")


@dataclass(frozen=True)
class Prompt:
    """A rendered prompt. `version` is the template's name and hash, for the ledger."""

    version: str
    messages: tuple[dict[str, Any], ...]


class Prompts:
    """The templates of one or more folders; the first folder that has a name wins.

    Args:
        folders: where templates lie.
    """

    def __init__(self, *folders: Path):
        self._folders = folders
        self._made: Environment | None = None

    def render(self, name: str, /, **values: Any) -> Prompt:
        """The messages of a template.

        Raises:
            InputError: there is no such template, it is broken, or it uses a name that was not given (file and line).
        """
        import jinja2

        try:
            template = self._environment.get_template(f"{name}.jinja")
            context = template.new_context(values)
            blocks = [role for role in template.blocks if role in ROLES]
            found = [{"role": role, "content": "".join(template.blocks[role](context)).strip()} for role in blocks]
        except jinja2.TemplateNotFound as error:
            raise InputError(f"there is no prompt template {error.name}", mend=f"known are {self.names()}") from None
        except jinja2.TemplateSyntaxError as error:
            raise InputError(f"prompt: {error.message}", file=error.filename, line=error.lineno) from None
        except jinja2.UndefinedError as error:
            raise InputError(
                f"prompt {name}: {error.message}", file=self._file(name), line=_line(error, template)
            ) from None
        if not found:
            raise InputError(
                f"prompt {name} has no message", file=self._file(name), mend="write {% block user %}...{% endblock %}"
            )
        return Prompt(f"{name}@{self._hash(name)}", tuple(found))

    def names(self) -> str:
        """All names, joined."""
        return ", ".join(sorted({path.stem for folder in self._folders for path in folder.glob("*.jinja")}))

    @property
    def _environment(self) -> Environment:
        if self._made is None:
            import jinja2

            self._made = jinja2.Environment(
                loader=jinja2.FileSystemLoader([str(folder) for folder in self._folders]),
                undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=False,
                autoescape=False,
            )  # fmt: skip
            self._made.filters["quoted"] = lambda value: json.dumps(value, ensure_ascii=False)
        return self._made

    def _file(self, name: str) -> Path:
        return next(f / f"{name}.jinja" for f in self._folders if (f / f"{name}.jinja").is_file())

    def _hash(self, name: str) -> str:
        """The hash of a template and of all that it includes, imports or extends."""
        from jinja2 import meta

        texts: dict[str, str] = {}
        todo = [f"{name}.jinja"]
        while todo:
            file = todo.pop()
            if file in texts:
                continue
            texts[file] = self._file(file.removesuffix(".jinja")).read_text("utf-8")
            referred = meta.find_referenced_templates(self._environment.parse(texts[file]))
            todo += [other for other in referred if other is not None]
        return hashlib.sha256(json.dumps(texts, sort_keys=True).encode()).hexdigest()[:12]


def _line(error: BaseException, template: Template) -> int | None:
    """The template's line that raised: the innermost frame that lies in it."""
    line, trace = None, error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == template.filename:
            line = template.get_corresponding_lineno(trace.tb_lineno)
        trace = trace.tb_next
    return line
