"""Film strips: a trajectory as one PNG that a person can read: every screen with the action drawn on it, and the verdict."""

from __future__ import annotations

import io
import math
from collections.abc import Callable, Sequence
from functools import lru_cache

from PIL import Image, ImageDraw, ImageFont

from forge.harness.describe import describe
from forge.records import (
    ActionRecord,
    Answer,
    Bash,
    Done,
    Drag,
    HoldKey,
    Key,
    Point,
    Pointer,
    Scroll,
    Task,
    Trajectory,
    Type,
    Verdict,
    Zoom,
)

_FOLDER = "/usr/share/fonts/truetype/dejavu"  # Debian's fonts-dejavu; without it Pillow's own font is used
INK, PAPER, FRAME, MUTED = "#1c1f24", "#f4f5f7", "#c5c9d0", "#5b6370"
MARK, GOOD, BAD, SHELL = "#e0218a", "#1a7f37", "#c62828", "#14181f"
GAP = 18


def render(
    trajectory: Trajectory,
    task: Task,
    verdict: Verdict | None,
    get_blob: Callable[[str], bytes],
    *,
    columns: int = 3,
    panel: int = 560,
) -> bytes:
    """Draw a film strip.

    Args:
        trajectory: the episode; its screenshots are read by `get_blob`.
        task: whose instruction stands on top.
        verdict: drawn below, a criterion a line with its evidence; None takes the trajectory's own.
        get_blob: PNG bytes by SHA-256; may raise KeyError or FileNotFoundError for screenshots that are gone.
        columns: panels in a row.
        panel: width of a panel in pixels.

    Returns:
        The bytes of a PNG, `columns * (panel + 18) + 18` pixels wide.
    """
    strip = Panels(trajectory, get_blob, panel)
    width = columns * (panel + GAP) + GAP
    parts = [_header(trajectory, task, width)]
    panels = [strip.panel(record) for record in trajectory.actions if not isinstance(record.action, Done)]
    panels.append(strip.last(trajectory))
    for row in range(0, len(panels), columns):
        parts.append(_beside(panels[row : row + columns], width))
    parts.append(_footer(trajectory, verdict or trajectory.verdict, width))
    sheet = Image.new("RGB", (width, sum(part.height for part in parts)), PAPER)
    top = 0
    for part in parts:
        sheet.paste(part, (0, top))
        top += part.height
    buffer = io.BytesIO()
    sheet.save(buffer, "PNG", optimize=False, compress_level=6)
    return buffer.getvalue()


class Panels:
    """Pictures of an episode's actions, each under its description; all of one size.

    Args:
        trajectory: gives the proportions.
        get_blob: see `render`.
        panel: width in pixels.
    """

    def __init__(self, trajectory: Trajectory, get_blob: Callable[[str], bytes], panel: int):
        self.get_blob = get_blob
        self.width = panel
        first = trajectory.actions[0].before if trajectory.actions else None
        ratio = first.height / first.width if first and first.width else 0.625
        self.height = round(panel * ratio)

    def panel(self, record: ActionRecord) -> Image.Image:
        """The screen before an action, with the action drawn on it; a terminal for a command."""
        title = f"{record.index + 1}. {describe(record.action, record.element)}"
        match record.action:
            case Bash():
                picture = self._shell(record)
            case Answer():
                picture = self._card("answer", record.action.text)
            case _:
                picture = self._screen(record.before.screenshot)
                self._mark(picture, record)
        return self._captioned(title, picture, BAD if record.error else INK)

    def after(self, record: ActionRecord) -> Image.Image:
        """The screen after an action, under the same description."""
        title = f"{record.index + 1}. {describe(record.action, record.element)}"
        return self._captioned(title, self._screen(record.after.screenshot), BAD if record.error else INK)

    def last(self, trajectory: Trajectory) -> Image.Image:
        """The screen at the end, under how the episode ended."""
        shot = trajectory.actions[-1].after.screenshot if trajectory.actions else None
        status = f" {trajectory.done_status}" if trajectory.done_status else ""
        return self._captioned(f"End: {trajectory.ended_by.value}{status}", self._screen(shot), INK)

    def _screen(self, blob: str | None) -> Image.Image:
        try:
            if blob is None:
                raise KeyError("none was taken")
            image = Image.open(io.BytesIO(self.get_blob(blob))).convert("RGB")
        except (KeyError, FileNotFoundError):
            return self._card("", "(no screenshot)")
        return image.resize((self.width, self.height), Image.Resampling.LANCZOS)

    def _captioned(self, title: str, picture: Image.Image, color: str) -> Image.Image:
        face = font(17, bold=True)
        lines = wrap(title, face, self.width)[:3]
        image = Image.new("RGB", (self.width, 3 * 23 + 6 + self.height), PAPER)
        draw = ImageDraw.Draw(image)
        for number, line in enumerate(lines):
            draw.text((0, (3 - len(lines) + number) * 23), line, color, face)
        image.paste(picture, (0, 3 * 23 + 6))
        draw.rectangle((0, 3 * 23 + 6, self.width - 1, image.height - 1), outline=FRAME)
        return image

    def _card(self, title: str, text: str) -> Image.Image:
        image = Image.new("RGB", (self.width, self.height), "white")
        draw = ImageDraw.Draw(image)
        draw.text((24, 20), title, MUTED, font(18))
        for number, line in enumerate(wrap(text, font(26, bold=True), self.width - 48)[: (self.height - 80) // 36]):
            draw.text((24, 56 + 36 * number), line, INK, font(26, bold=True))
        return image

    def _shell(self, record: ActionRecord) -> Image.Image:
        assert isinstance(record.action, Bash)
        image = Image.new("RGB", (self.width, self.height), SHELL)
        draw = ImageDraw.Draw(image)
        face = font(14, mono=True)
        rows = (self.height - 20) // 18
        command = "$ " + (record.action.command or "(restart)")
        typed = [(line, "#8fd18a") for line in wrap(command, face, self.width - 24)]
        shown = [(line, "#e6e6e6") for line in wrap(record.result, face, self.width - 24) if record.result]
        if record.exit_code:
            shown.append((f"[exit code {record.exit_code}]", "#ff8a80"))
        room = max(rows // 2, rows - len(shown))
        lines = _cut(typed, room, "#8fd18a")
        lines += _cut(shown, rows - len(lines), "#e6e6e6")
        for number, (line, color) in enumerate(lines):
            draw.text((12, 10 + 18 * number), line, color, face)
        return image

    def _mark(self, picture: Image.Image, record: ActionRecord) -> None:
        draw = ImageDraw.Draw(picture)
        action = record.action
        match action:
            case Pointer():
                x, y = self._pixel(action.at)
                rings = {"mouse_move": 0, "double_click": 2, "triple_click": 3}.get(action.kind, 1)
                for ring in range(rings):
                    _ring(draw, x, y, 13 + 6 * ring)
                _cross(draw, x, y)
                if action.kind in ("right_click", "middle_click") or action.modifiers:
                    word = "+".join([*action.modifiers, action.kind.removesuffix("_click")])
                    self._label(draw, word, x + 18, y - 12)
            case Drag():
                _arrow(draw, self._pixel(action.start), self._pixel(action.at))
                _ring(draw, *self._pixel(action.start), 11)
            case Scroll():
                x, y = self._pixel(action.at)
                _arrow(draw, (x, y), (x + 40 * _sign(action.dx), y + 40 * _sign(action.dy)))
            case Zoom():
                draw.rectangle(
                    (*self._pixel(action.top_left), *self._pixel(action.bottom_right)), outline=MARK, width=3
                )
            case Type():
                self._caption(draw, f'types "{action.text.replace(chr(10), "⏎").replace(chr(9), "⇥")}"')
            case Key():
                self._caption(draw, f"presses {action.keys}" + (f" ×{action.repeat}" if action.repeat > 1 else ""))
            case HoldKey():
                self._caption(draw, f"holds {action.keys}")
            case _:
                self._caption(draw, describe(action).lower())
        if record.error:
            self._caption(draw, f"error: {record.result}", BAD)

    def _pixel(self, point: Point) -> tuple[int, int]:
        return round(point.x * (self.width - 1)), round(point.y * (self.height - 1))

    def _caption(self, draw: ImageDraw.ImageDraw, text: str, color: str = MARK) -> None:
        face = font(17, bold=True)
        lines = wrap(text, face, self.width - 40)[:3]
        top = self.height - 14 - 22 * len(lines)
        draw.rectangle((10, top - 6, self.width - 10, self.height - 8), fill="#fffffff0", outline=color, width=2)
        for number, line in enumerate(lines):
            draw.text((20, top + 22 * number - 1), line, color, face)

    def _label(self, draw: ImageDraw.ImageDraw, text: str, x: int, y: int) -> None:
        face = font(14, bold=True)
        width = draw.textlength(text, face)
        x = min(x, int(self.width - width - 8))
        draw.rectangle((x - 3, y - 1, x + width + 3, y + 18), fill="white", outline=MARK)
        draw.text((x, y), text, MARK, face)


def _header(trajectory: Trajectory, task: Task, width: int) -> Image.Image:
    face, small = font(24, bold=True), font(17)
    lines = [line for part in task.instruction.splitlines() for line in wrap(part, face, width - 2 * GAP)]
    gui = sum(1 for record in trajectory.actions if not isinstance(record.action, Bash | Answer | Done))
    bash = sum(1 for record in trajectory.actions if isinstance(record.action, Bash))
    facts = (
        f"{task.skill}   task {task.id[:12]}   teacher {trajectory.teacher} ({trajectory.provenance.value})   "
        f"channel {trajectory.channel}   {len(trajectory.turns)} turns   {gui} GUI and {bash} terminal actions   "
        f"{trajectory.seconds:.1f} s"
    )
    image = Image.new("RGB", (width, GAP + 32 * len(lines) + 30), PAPER)
    draw = ImageDraw.Draw(image)
    for number, line in enumerate(lines):
        draw.text((GAP, GAP + 32 * number), line, INK, face)
    draw.text((GAP, GAP + 32 * len(lines) + 2), facts, MUTED, small)
    return image


def _footer(trajectory: Trajectory, verdict: Verdict | None, width: int) -> Image.Image:
    face, bold = font(18), font(19, bold=True)
    rows: list[tuple[str, str, ImageFont.ImageFont | ImageFont.FreeTypeFont]] = []
    if verdict is None:
        rows.append(("No verdict", MUTED, bold))
    else:
        score = "no score" if verdict.score is None else f"score {verdict.score:g}"
        color = GOOD if verdict.passed else BAD
        rows.append((f"Verdict: {verdict.grading.value}, {score}", color, bold))
        for item in verdict.criteria:
            sign = "✔" if item.score >= 1 else "✘"
            head = f"{sign} {item.criterion}  [{item.kind} {item.check}, weight {item.weight:g}, score {item.score:g}]"
            rows.append((head, GOOD if item.score >= 1 else BAD, bold))
            rows += [("    " + line, INK, face) for line in wrap(item.evidence, face, width - 3 * GAP - 20)]
        if verdict.error:
            rows += [(line, BAD, face) for line in wrap(verdict.error, face, width - 3 * GAP)]
    if trajectory.error:
        rows += [(line, BAD, face) for line in wrap(f"Episode: {trajectory.error}", face, width - 3 * GAP)]
    image = Image.new("RGB", (width, 2 * GAP + 26 * len(rows)), PAPER)
    draw = ImageDraw.Draw(image)
    for number, (text, color, used) in enumerate(rows):
        draw.text((GAP, GAP + 26 * number), text, color, used)
    return image


def _beside(panels: Sequence[Image.Image], width: int) -> Image.Image:
    image = Image.new("RGB", (width, GAP + max(panel.height for panel in panels)), PAPER)
    left = GAP
    for panel in panels:
        image.paste(panel, (left, GAP))
        left += panel.width + GAP
    return image


def _cut(lines: list[tuple[str, str]], room: int, color: str) -> list[tuple[str, str]]:
    """At most `room` lines; a last one says how many are missing."""
    if len(lines) <= room:
        return lines
    return [*lines[: max(0, room - 1)], (f"... {len(lines) - room + 1} more lines", color)]


def _ring(draw: ImageDraw.ImageDraw, x: int, y: int, radius: int) -> None:
    box = (x - radius, y - radius, x + radius, y + radius)
    draw.ellipse((box[0] - 1, box[1] - 1, box[2] + 1, box[3] + 1), outline="white", width=5)
    draw.ellipse(box, outline=MARK, width=3)


def _cross(draw: ImageDraw.ImageDraw, x: int, y: int) -> None:
    for dx, dy in ((5, 0), (0, 5)):
        draw.line((x - dx, y - dy, x + dx, y + dy), MARK, 2)


def _arrow(draw: ImageDraw.ImageDraw, start: tuple[int, int], end: tuple[int, int]) -> None:
    angle = math.atan2(end[1] - start[1], end[0] - start[0])
    draw.line((*start, *end), "white", 7)
    draw.line((*start, *end), MARK, 4)
    head = [(end[0] - 16 * math.cos(angle + turn), end[1] - 16 * math.sin(angle + turn)) for turn in (0.45, -0.45)]
    draw.polygon([end, *head], MARK)


def _sign(number: int) -> int:
    return (number > 0) - (number < 0)


@lru_cache(maxsize=16)
def font(size: int, *, bold: bool = False, mono: bool = False) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """DejaVu in a size, or Pillow's own font where it is not installed."""
    name = f"DejaVuSans{'Mono' if mono else ''}{'-Bold' if bold else ''}.ttf"
    try:
        return ImageFont.truetype(f"{_FOLDER}/{name}", size)
    except OSError:
        return ImageFont.load_default(size)


def wrap(text: str, face: ImageFont.FreeTypeFont | ImageFont.ImageFont, width: int) -> list[str]:
    """Break text into lines of at most `width` pixels, at blanks where there are some."""
    lines: list[str] = []
    for paragraph in text.expandtabs(4).split("\n"):
        line = ""
        for word in paragraph.split(" "):
            joined = f"{line} {word}" if line else word
            if face.getlength(joined) <= width:
                line = joined
                continue
            if line:
                lines.append(line)
            while face.getlength(word) > width:
                size = _fitting(word, face, width)
                lines.append(word[:size])
                word = word[size:]
            line = word
        lines.append(line)
    return lines


def _fitting(word: str, face: ImageFont.FreeTypeFont | ImageFont.ImageFont, width: int) -> int:
    """How many characters of a word fit into a line, at least one."""
    low, high = 1, len(word)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if face.getlength(word[:middle]) <= width else (low, middle - 1)
    return low
