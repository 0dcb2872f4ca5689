"""`python -m bench.strips FOLDER`: five window oracles in five applications, played, graded and drawn as film strips.

The applications have no skills in the library yet; the tasks are put together here from their moves, and graded on what is left
in files by the same checks as any other task.
"""

from __future__ import annotations

import argparse
import asyncio
import io
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from forge.desktop import Slot
from forge.desktop.slot import File
from forge.harness import OracleTeacher, SlotEnvironment, load_harness, play
from forge.harness.filmstrip import render
from forge.records import Criterion, Guest, Rubric, Solution, Start, Step, Task, sha256_hex
from forge.records.guest import USER
from rounds.terminal import print_table
from verifiers import Case, Tree
from verifiers.grading import grade


@dataclass(frozen=True)
class Scene:
    """One application: what lies there, what is asked, how it is done, what must be left."""

    app: str
    path: str | None
    files: tuple[File, ...]
    asked: str
    steps: tuple[dict[str, Any], ...]
    must: tuple[tuple[str, dict[str, Any]], ...]

    def task(self) -> Task:
        """The scene as a task that only a window solution is declared for."""
        spans = self.asked.rstrip(".")
        criteria = tuple(
            Criterion(id=f"c{n}", kind="must", check=check, args=args, says=spans)
            for n, (check, args) in enumerate(self.must, 1)
        )
        steps = tuple(Step(move=name, value=value) for step in self.steps for name, value in step.items())
        return Task(
            skill=f"{self.app}.strip.show-moves", workflow=sha256_hex(b"bench.strips"), seed=0, apps=(self.app,), guest=Guest(),
            resolved={"app": self.app}, instruction=self.asked, start=(Start(app=self.app, path=self.path),),
            rubric=Rubric(criteria=criteria), solutions=(Solution(channel="gui", steps=steps),),
        )  # fmt: skip


def scenes() -> list[Scene]:
    """The five."""
    return [
        Scene(
            "writer", "~/Documents/minutes.docx", (("~/Documents/minutes.docx", _minutes(), 0o644, False),),
            "Replace Smith by Smythe everywhere in minutes.docx, make the line Decisions a Heading 2, and export it as "
            "~/Documents/minutes.pdf.",
            (
                {"find_replace": {"find": "Smith", "replace": "Smythe"}},
                {"paragraph_style": {"text": "Decisions", "style": "Heading 2"}},
                {"save": "~/Documents/minutes.docx"},
                {"export_pdf": "~/Documents/minutes.pdf"},
            ),
            (("files.exists", {"path": "~/Documents/minutes.pdf", "kind": "file"}),),
        ),
        Scene(
            "gimp", "~/Pictures/photo.png", (("~/Pictures/photo.png", _photo(), 0o644, False),),
            "Scale photo.png to 320 pixels in width, flip it like in a mirror, and overwrite the file.",
            ({"scale_image": {"width": 320}}, {"flip_image": "horizontally"}, {"overwrite_image": "~/Pictures/photo.png"}),
            (("files.image_size", {"path": "~/Pictures/photo.png", "width": 320, "height": 200}),),
        ),
        Scene(
            "editor", "~/Documents/rules.txt", (("~/Documents/rules.txt", b"No dogs.\nNo dogs on Monday.\n", 0o644, False),),
            "In rules.txt, write cats for dogs everywhere, and save it.",
            ({"replace_text": {"find": "dogs", "replace": "cats"}}, {"save_text": "~/Documents/rules.txt"}),
            (("files.content", {"path": "~/Documents/rules.txt", "lines": ["No cats.", "No cats on Monday."]}),),
        ),
        Scene(
            "chromium", "~/Documents/club.html", (("~/Documents/club.html", _PAGE, 0o644, False),),
            "Follow the link Opening hours on the page of the club, and print that part as ~/Documents/hours.pdf.",
            ({"follow_link": "Opening hours"}, {"save_page": "~/Documents/hours.pdf"}),
            (("files.exists", {"path": "~/Documents/hours.pdf", "kind": "file"}),),
        ),
        Scene(
            "files", "~/Documents", (
                ("~/Documents/plan.txt", b"plan\n", 0o644, False), ("~/Documents/list.txt", b"list\n", 0o644, False),
            ),
            "Make a folder Old in Documents and move plan.txt into it.",
            (
                {"make_folder": "Old"}, {"transfer_item": {"name": "plan.txt", "to": "~/Documents/Old"}},
            ),
            (("files.moved", {"files": {"~/Documents/plan.txt": "~/Documents/Old/plan.txt"}}),),
        ),
    ]  # fmt: skip


def main() -> None:
    """Play them, and write one picture each; the table says what they earned."""
    parser = argparse.ArgumentParser(prog="python -m bench.strips", description=__doc__)
    parser.add_argument("folder", type=Path, help="where the pictures go")
    parser.add_argument("--only", help="one application")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    rows = [_show(scene, options.folder) for scene in scenes() if options.only in (None, scene.app)]
    print_table("Five window oracles", ["application", "turns", "reward", "evidence", "strip"], rows)


def _show(scene: Scene, folder: Path) -> tuple[Any, ...]:
    task, blobs = scene.task(), {}

    def put(data: bytes) -> str:
        blobs[sha256_hex(data)] = data
        return sha256_hex(data)

    with tempfile.TemporaryDirectory() as scratch, Slot.open(task.guest, home_files=scene.files) as slot:
        from forge.desktop import lay, restore

        slot.launch(scene.app, scene.path)
        environment = SlotEnvironment(slot, put)
        teacher = OracleTeacher(task.solutions[0], environment)
        trajectory = asyncio.run(play(task, load_harness("gui"), teacher, environment, put))
        environment.close()
        slot.stop()
        before, after = Path(scratch, "before"), Path(scratch, "after")
        before.mkdir()
        after.mkdir()
        lay(before, scene.files)
        restore(slot.snapshot(put), after, blobs.__getitem__)
        verdict = grade(task.rubric, Case(Tree(before), Tree(after), guest=task.guest))
    target = folder / f"strip-{scene.app}.png"
    target.write_bytes(render(trajectory, task, verdict, blobs.__getitem__))
    said = trajectory.error or "; ".join(c.evidence for c in verdict.criteria)
    return scene.app, len(trajectory.turns), verdict.score, said[:160], target.name


def _minutes() -> bytes:
    import docx

    document = docx.Document()
    document.add_heading("Minutes of the allotment club", 1)
    document.add_paragraph(f"Present: Ms Smith, Mr Doe ({USER}), Dr Roe. Ms Smith took the chair.")
    document.add_paragraph("Decisions")
    document.add_paragraph("The fence is to be mended before May. Ms Smith asks for three offers.")
    buffer = io.BytesIO()
    document.save(buffer)
    return buffer.getvalue()


def _photo() -> bytes:
    from PIL import Image, ImageDraw

    picture = Image.new("RGB", (640, 400), "#dfe8f0")
    draw = ImageDraw.Draw(picture)
    draw.polygon([(40, 360), (220, 90), (400, 360)], fill="#47745a")
    draw.ellipse((470, 50, 570, 150), fill="#e8a33d")
    buffer = io.BytesIO()
    picture.save(buffer, "PNG")
    return buffer.getvalue()


_PAGE = b"""<!doctype html><meta charset=utf-8><title>Rowing club</title><h1>Rowing club</h1>
<p><a href=#hours>Opening hours</a> <a href=#fees>Fees</a></p><h2 id=fees>Fees</h2><p>Juniors 40, seniors 90 a year.</p>
<h2 id=hours>Opening hours</h2><p>Monday to Friday 9 to 18, Saturday 9 to 13.</p>"""


if __name__ == "__main__":
    main()
