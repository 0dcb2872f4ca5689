"""The reference pages below docs/reference, written from the code: `python -m docs.generate`, with `--check` compared.

Nothing here knows a plug-in by name: a page lists what the registries, models and tables hold, with their own words. The
generated tables inside docs/workflow-language.md are kept fresh as well (`skills.reference`).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
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
    from skills.authoring.catalogue import draw_examples, entries, node_text
    from skills.draws.base import DRAWS
    from skills.language.reader import KEYS, OPTIONAL

    keys = [(f"`{key}`", "" if key in OPTIONAL else "yes", meaning) for key, meaning in KEYS.items()]
    parts = ["## Keys", table(("key", "needed", "holds"), keys), "## Kinds of nodes"]
    for name in entries("nodes"):
        parts += [f"### `{name}`", node_text(name)]
    parts.append("## Kinds of draws")
    for name, draw in DRAWS:
        about = f"{paragraphs(type(draw).__doc__)} (version {draw.version})"
        parts += [f"### `{name}`", about, draw_examples(draw), model_tables(draw.args, 4), draw.values()]
    parts.append("## Functions")
    from skills.language.functions import FUNCTIONS

    rows = sorted((function.group, function.usage, function.summary, _result(function)) for _, function in FUNCTIONS)
    head = ("group", "function", "gives", "example")
    parts.append(table(head, [(group, f"`{usage}`", text, example) for group, usage, text, example in rows]))
    return "\n\n".join(part for part in parts if part)


def preparers() -> str:
    """What can lie on a guest's desktop: every preparer with its parameters and the facts that workflows refer to."""
    from preparers.base import PREPARERS
    from skills.authoring.catalogue import entries, preparer_example, preparer_facts

    parts = []
    for name in entries("preparers"):
        preparer = PREPARERS.get(name)
        about = f"{paragraphs(type(preparer).__doc__)} (version {preparer.version})"
        parts += [f"## `{name}`", about, preparer_example(name), "### Parameters", model_tables(preparer.params, 4)]
        parts += [preparer.values(), "### Facts", _lines(preparer_facts(name))]
    return "\n\n".join(part for part in parts if part)


def checks() -> str:
    """What rubrics grade by: every check with its version, its arguments, and the ways in which it is put to the test.

    A mutant spoils a solved state in one place: a near-miss for a `must`, an over-edit for a `must_not`. Audit mutants
    are never used for acceptance, only for the audit rate.
    """
    from skills.authoring.catalogue import entries
    from verifiers.base import CHECKS

    parts = []
    for name in entries("checks"):
        check = CHECKS.get(name)
        parts += [
            f"## `{name}`",
            paragraphs(check.run.__doc__),
            f"Version {check.version}.",
            model_tables(check.args, 3),
        ]
        mutants = check.mutants
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
    from forge.harness.moves import MOVES
    from skills.authoring.catalogue import entries, move_words

    parts = [[f"## `{name}`", move_words(name), model_tables(MOVES.get(name).args, 3)] for name in entries("moves")]
    return "\n\n".join(part for group in parts for part in group if part)


def guest() -> str:
    """What there is in the guest: the applications, and the modules that scripts in its shell import."""
    from skills.authoring.catalogue import describe, entries

    parts = []
    for kind, title in (("apps", "Applications"), ("modules", "Modules")):
        parts.append(f"## {title}")
        for name in entries(kind):
            parts += [f"### `{name}`", describe(kind, name)]
    return "\n\n".join(parts)


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
    "guest": ("Applications and modules of the guest", guest),
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


def _result(function: Any) -> str:
    import json

    from skills.authoring.catalogue import evaluated

    return (
        f"`{function.example}` is `{json.dumps(evaluated(function.example), ensure_ascii=False)}`"
        if function.example
        else ""
    )


def _lines(text: str) -> str:
    """Lines as items of a list."""
    return "\n".join(f"- {line}" for line in text.splitlines() if line)


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
