"""`python -m bench.library`: how many of each skill's draws stay distinct, and from how many ways of asking."""

from __future__ import annotations

from bench.report import Figure, options, show
from forge.desktop import Office
from skills import Kitchen, draw_many, library, load


def main() -> None:
    """Draw 520 tasks of every skill of the library (20 with --quick), without files."""
    chosen = options(__doc__ or "")
    wanted = 20 if chosen.quick else 520
    figures = []
    with Office(workers=2) as office:
        kitchen = Kitchen(office=office.client())
        for path in library():
            workflow = load(path)
            batch = draw_many(workflow, range(wanted * 2), kitchen, limit=wanted, workers=2, files=False)
            figures.append(
                Figure(f"{workflow.skill.id}: distinct tasks", len(batch.draws), "tasks", f">= {min(wanted, 500)}")
            )
            figures.append(Figure(f"{workflow.skill.id}: near-duplicates dropped", len(batch.dropped), "draws"))
    show(figures, as_json=chosen.json)


if __name__ == "__main__":
    main()
