"""The generated parts of docs/workflow-language.md: `python -m skills.reference FILE` writes them, `--check` compares.

Generated from the code: keys of a workflow, kinds of draws with their options, kinds of nodes, functions, banks, and a
whole workflow as an example. They stand between `<!-- begin NAME -->` and `<!-- end NAME -->`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import skills.language.pure
import skills.nodes  # noqa: F401 - registers the kinds of nodes and draws
from skills.banks.bank import FOLDER, find_bank
from skills.draws.base import DRAWS
from skills.language.functions import FUNCTIONS
from skills.language.located import Place
from skills.language.models import fields_of
from skills.language.reader import KEYS, OPTIONAL
from skills.nodes.base import NODE_KINDS

EXAMPLE = Path(__file__).parent / "library" / "calc.formula.total-below-column"


def keys() -> str:
    """The keys of a workflow file."""
    rows = [(f"`{key}`", "" if key in OPTIONAL else "yes", text) for key, text in KEYS.items()]
    return _table(("key", "needed", "holds"), rows)


def draws() -> str:
    """Kinds of draws."""
    rows = []
    for name, kind in DRAWS:
        options = [_field(key, field) for key, field in fields_of(kind.args).items() if key != "of"]
        about = fields_of(kind.args)["of"].description or "" if "of" in fields_of(kind.args) else ""
        rows.append((f"`{name}`", _first_line(kind), about, "; ".join(options)))
    return _table(("draw", "gives", "domain", "options"), rows)


def nodes() -> str:
    """Kinds of nodes."""
    return _table(("node", "makes"), [(f"`{name}`", _first_line(kind)) for name, kind in NODE_KINDS])


def functions() -> str:
    """Functions of expressions."""
    groups: dict[str, list[tuple[str, ...]]] = {}
    for _, function in FUNCTIONS:
        groups.setdefault(function.group, []).append((f"`{function.usage}`", function.summary))
    return "\n\n".join(
        f"**{group}**\n\n{_table(('function', 'gives'), rows)}" for group, rows in sorted(groups.items())
    )


def banks() -> str:
    """Committed banks."""
    rows = []
    for path in sorted(FOLDER.glob("*.yaml")):
        if path.stem != "phrases":
            bank = find_bank(path.stem, Place(str(path), 1), FOLDER)
            groups = {name for column in [bank.values, *bank.fields.values()] for name in column} - {"*"}
            rows.append((f"`{bank.name}`", bank.about, ", ".join(bank.fields), ", ".join(sorted(groups))))
    return _table(("bank", "holds", "fields", "groups (`about`)"), rows)


def example() -> str:
    """The library's first workflow, as it stands."""
    return f"```yaml\n{(EXAMPLE / 'workflow.yaml').read_text('utf-8')}```"


SECTIONS: dict[str, Callable[[], str]] = {
    "keys": keys, "draws": draws, "nodes": nodes, "functions": functions, "banks": banks, "example": example,
}  # fmt: skip


def filled(page: str) -> str:
    """The page with its generated parts as they are now. Parts that the page does not have are left out."""
    for name, make in SECTIONS.items():
        pattern = re.compile(rf"(<!-- begin {name} -->\n).*?(<!-- end {name} -->)", re.DOTALL)
        if pattern.search(page):
            text = make()
            page = pattern.sub(lambda match, text=text: f"{match[1]}{text}\n{match[2]}", page)  # type: ignore[misc]
    return page


def main(arguments: list[str]) -> int:
    """Write the generated parts of a page, or with `--check` say whether they are fresh (exit code 1 if not)."""
    path = Path(next(a for a in arguments if not a.startswith("--")))
    page = path.read_text("utf-8")
    fresh = filled(page)
    if "--check" in arguments:
        if fresh != page:
            print(f"{path} is stale; run python -m skills.reference {path}", file=sys.stderr)
        return int(fresh != page)
    path.write_text(fresh, "utf-8")
    return 0


def _field(key: str, field: Any) -> str:
    hidden = field.is_required() or field.default is None or field.default_factory is not None
    default = "" if hidden else f" ({_plain(field.default)})"
    return f"`{key}`{default}{': ' + field.description if field.description else ''}"


def _plain(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_plain, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _first_line(thing: Any) -> str:
    return (type(thing).__doc__ or "").strip().split("\n")[0]


def _table(head: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [head, tuple("---" for _ in head), *rows]
    return "\n".join(
        "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in line) + " |" for line in lines
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
