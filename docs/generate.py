"""The reference pages below docs/reference, written from the code: `python -m docs.generate`, with `--check` compared.

Nothing here knows a plug-in by name: a page lists what the registries, models and tables hold, with their own words. The
generated tables inside docs/workflow-language.md are kept fresh as well (`skills.reference`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from docs.mutants import mutant_names
from forge.records.tables import first_line, model_tables, paragraphs, schema_tables, table

FOLDER = Path(__file__).parent
NOTE = "<!-- Written by `python -m docs.generate` from the code; do not edit. -->"


def records() -> str:
    """The typed vocabulary that all rooms share: fields, types and defaults of every record."""
    from forge.records.schema import schemas

    found = schemas()
    own = [name for name in found if name != "Action"]
    parts = ["`python -m forge.records.schema [NAME]` prints the JSON Schema itself."]
    for name, schema in found.items():
        about = paragraphs(schema.get("description", ""))
        known = [*own, *(found["Action"]["$defs"] if name != "Action" else [])]
        if name == "Action":
            about = "One canonical action; which one is said by `kind`."
        parts += [f"## {name}", *([about] if about else []), schema_tables(schema, 3, known=known)]
    return "\n\n".join(part for part in parts if part)


def workflow() -> str:
    """What a workflow is written with: keys, kinds of nodes, kinds of draws, and the functions of `${...}`."""
    import_module("skills.nodes")
    import_module("skills.language.pure")
    from skills.draws.base import DRAWS
    from skills.language.functions import FUNCTIONS
    from skills.language.reader import KEYS, OPTIONAL
    from skills.nodes.base import NODE_KINDS

    keys = [(f"`{key}`", "" if key in OPTIONAL else "yes", meaning) for key, meaning in KEYS.items()]
    parts = ["## Keys", table(("key", "needed", "holds"), keys), "## Kinds of nodes"]
    for name, kind in NODE_KINDS:
        parts += [f"### `{name}`", paragraphs(type(kind).__doc__)]
    parts.append("## Kinds of draws")
    for name, draw in DRAWS:
        parts += [
            f"### `{name}`",
            f"{paragraphs(type(draw).__doc__)} (version {draw.version})",
            model_tables(draw.args, 4),
        ]
    parts.append("## Functions")
    rows = sorted((function.group, function.usage, function.summary) for _, function in FUNCTIONS)
    parts.append(table(("group", "function", "gives"), [(group, f"`{usage}`", text) for group, usage, text in rows]))
    return "\n\n".join(parts)


def preparers() -> str:
    """What can lie on a guest's desktop: every preparer with its parameters and the facts that workflows refer to."""
    from skills.authoring.catalogue import entries, preparer_text

    return "\n\n".join(f"## `{name}`\n\n{preparer_text(name)}" for name in entries("preparers"))


def checks() -> str:
    """What rubrics grade by: every check with its version, its arguments, and the ways in which it is put to the test.

    A mutant spoils a solved state in one place: a near-miss for a `must`, an over-edit for a `must_not`. Audit mutants
    are never used for acceptance, only for the audit rate.
    """
    from skills.authoring.catalogue import check_text, entries
    from verifiers.base import CHECKS

    parts = []
    for name in entries("checks"):
        mutants = CHECKS.get(name).mutants
        parts += [f"## `{name}`", check_text(name)]
        if mutants is None:
            parts.append("No mutants of its own.")
            continue
        names = mutant_names(mutants)
        usual, audit = (", ".join(f"`{one}`" for one, is_audit in names if is_audit is want) for want in (False, True))
        parts.append(
            f"Mutants: {first_line(mutants.__doc__)} {usual or 'none by name'}; for audits: {audit or 'none'}."
        )
    return "\n\n".join(parts)


def moves() -> str:
    """What solutions do in windows: every move, with its arguments; the oracle plays them as canonical actions."""
    from skills.authoring.catalogue import entries, move_text

    return "\n\n".join(f"## `{name}`\n\n{move_text(name)}" for name in entries("moves"))


def harness() -> str:
    """What stands between a model and a desktop: the presets, and the tools as the dialects put them on the wire."""
    import json

    from forge.harness.dialects import DIALECTS
    from forge.harness.load import load_harness, preset_names

    presets = [load_harness(name) for name in preset_names()]
    rows = [
        (
            f"`{h.name}`",
            ", ".join(h.tools),
            h.dialect,
            h.max_turns,
            h.observation.screenshots_kept,
            h.observation.responses_kept,
        )
        for h in presets
    ]
    head = ("preset", "tools", "dialect", "turns", "screenshots kept", "responses kept")
    parts = ["## Presets", table(head, rows)]
    tools = {tool: h for h in presets for tool in h.tools}
    for name, dialect in DIALECTS:
        parts += [f"## Tools in the dialect `{name}`", paragraphs(type(dialect).__doc__)]
        for tool, owner in sorted(tools.items()):
            wire = next(t for t in dialect.tools(owner) if t["function"]["name"] == tool)
            parts += [f"### `{tool}`", f"```json\n{json.dumps(wire['function'], indent=2, ensure_ascii=False)}\n```"]
    return "\n\n".join(parts)


def settings() -> str:
    """Environment variables, which win over `forge.toml` in the working directory, which wins over the defaults."""
    from forge.records import Settings

    prefix = str(Settings.model_config["env_prefix"])
    rows = [
        (f"`{prefix}{name.upper()}`", f"`{name}`", f"`{field.get_default()}`", field.description or "")
        for name, field in Settings.model_fields.items()
    ]
    return table(("variable", "in forge.toml", "default", "meaning"), rows)


def warehouse() -> str:
    """The tables and views that SQL sees. A view has a versioned name and a plain one that means the newest version.

    Columns marked volatile differ between two runs that did the same work.
    """
    import sqlalchemy as sa

    from warehouse import schema as tables
    from warehouse.views import VIEWS, create_views

    volatile = getattr(tables, "VOLATILE", {})
    engine = sa.create_engine("sqlite://")
    parts = ["## Tables"]
    with engine.connect() as connection:
        tables.Base.metadata.create_all(connection)
        create_views(connection, VIEWS)
        classes = {str(mapper.local_table): mapper.class_ for mapper in tables.Base.registry.mappers}
        for one in sorted(tables.Base.metadata.tables.values(), key=lambda t: t.name):
            parts += [f"### {one.name}", paragraphs(classes[one.name].__doc__)]
            rows = [
                (f"`{c.name}`", _sql_type(c), _key(c), _notes(c, c.name in volatile.get(one.name, ())))
                for c in one.columns
            ]
            parts.append(table(("column", "type", "key", "meaning"), rows))
        parts.append("## Views")
        for name, text in VIEWS.items():
            columns = [row[1] for row in connection.exec_driver_sql(f"PRAGMA table_info({name})")]
            parts += [f"### {name}", ", ".join(f"`{c}`" for c in columns), f"```sql\n{text.strip()}\n```"]
    engine.dispose()
    return "\n\n".join(parts)


PAGES: dict[str, tuple[str, Callable[[], str]]] = {
    "records": ("Records", records),
    "workflow": ("Workflows", workflow),
    "preparers": ("Preparers", preparers),
    "checks": ("Checks", checks),
    "moves": ("Moves", moves),
    "harness": ("Harnesses and tools", harness),
    "warehouse": ("Tables and views", warehouse),
    "settings": ("Settings", settings),
}


def pages() -> dict[Path, str]:
    """Every generated page by its path, as it should be."""
    found = {}
    for name, (title, make) in PAGES.items():
        found[FOLDER / "reference" / f"{name}.md"] = _page(title, f"{paragraphs(make.__doc__)}\n\n{make()}")
    links = [(f"[{title}]({name}.md)", first_line(make.__doc__)) for name, (title, make) in PAGES.items()]
    found[FOLDER / "reference" / "README.md"] = _page("Reference", table(("page", "holds"), links))
    language = FOLDER / "workflow-language.md"
    if language.exists():
        from skills.reference import filled

        found[language] = filled(language.read_text("utf-8"))
    return found


def stale(found: dict[Path, str]) -> list[str]:
    """The pages that are not as they should be, and those in docs/reference that no longer should be at all."""
    changed = [path for path, text in found.items() if not path.exists() or path.read_text("utf-8") != text]
    left = [path for path in (FOLDER / "reference").glob("*.md") if path not in found]
    return sorted(path.relative_to(FOLDER.parent).as_posix() for path in [*changed, *left])


def main() -> int:
    """Write the pages, or with --check name those that are stale (exit code 1 if there are any)."""
    parser = argparse.ArgumentParser(prog="python -m docs.generate", description=main.__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing")
    options = parser.parse_args()
    found = pages()
    old = stale(found)
    if options.check:
        for name in old:
            print(f"{name} is stale; run `make docs`", file=sys.stderr)
        return int(bool(old))
    for path in (FOLDER / "reference").glob("*.md"):
        if path not in found:
            path.unlink()
    for path, text in found.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    print("\n".join(old) or "all pages are fresh")
    return 0


def _page(title: str, body: str) -> str:
    return f"{NOTE}\n# {title}\n\n{body.rstrip()}\n"


def _sql_type(column: Any) -> str:
    kind = str(column.type.compile()) if not hasattr(column.type, "impl") else str(column.type.impl.compile())
    return kind.lower() + (" or null" if column.nullable else "")


def _key(column: Any) -> str:
    keys = ["primary"] if column.primary_key else []
    return ", ".join([*keys, *(f"→ {key.target_fullname}" for key in sorted(column.foreign_keys, key=str))])


def _notes(column: Any, volatile: bool) -> str:
    return "; ".join([*([column.comment] if column.comment else []), *(["volatile"] if volatile else [])])


if __name__ == "__main__":
    sys.exit(main())
