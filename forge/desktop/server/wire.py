"""What goes over the wire between a slot server and its client: requests and answers, all of them JSON.

Pictures are PNG in base64. Paths are the guest's, `~/...`. Times are seconds unless the name says otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Base64Bytes, BaseModel, ConfigDict, Field, ValidationError

from forge.desktop import acting
from forge.desktop.health import Finding, Health
from forge.desktop.screen import Screenshot
from forge.desktop.windows import Pane, Window
from forge.records.action import Action
from forge.records.artifact import FileEntry
from forge.records.errors import InputError
from forge.records.fingerprint import Fingerprint
from forge.records.guest import Guest
from forge.records.trajectory import Element

VERSION = 2
"""Raised with every change that an older client or server would not understand."""
LONGEST_LEASE = 7 * 86400.0
MOST_OUTPUT = 16 << 20
"""Bytes of a command's output; written as JSON it stays below what the server keeps of answers."""
LONGEST_HOLD = 60.0
"""Seconds that a key may be held, as long as an action may take. A slot gives no sign of life meanwhile, see
`forge.desktop.lease.SILENCE`, nor while the screen is waited for afterwards.
"""
LONGEST_SETTLE = 30.0
"""Seconds that the screen may be waited for in one request."""
_Settle = Annotated[float, Field(ge=0, le=LONGEST_SETTLE)]
_BOUNDS = ("greater_than", "greater_than_equal", "less_than", "less_than_equal")


class Wire(BaseModel):
    """Base of all messages."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Order(Wire):
    """Base of what a client asks for. On either side one that is not well made is bad input, and names its field."""

    def __init__(self, /, **fields: Any):
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise InputError(refusal(error.errors()[0])) from None


class Problem(Wire):
    """An error, as the client raises it again."""

    kind: str = Field(description="input, desktop, exhausted, full, layers, gone, refused")
    message: str
    mend: str | None = None
    missing: tuple[str, ...] = Field((), description="digests of layers that the server does not hold")


class Failure(Wire):
    """The body of every answer that is an error."""

    error: Problem


class FileBody(Wire):
    """A file or folder to be laid into a home."""

    path: str
    data: Base64Bytes = b""
    mode: int = 0o644
    folder: bool = False

    @classmethod
    def of(cls, file: tuple[str, bytes, int, bool]) -> FileBody:
        """From what `forge.desktop.files.lay` takes; pydantic wants bytes of base64 in, and gives bytes of content."""
        import base64

        path, data, mode, folder = file
        return cls(path=path, data=base64.b64encode(data), mode=mode, folder=folder)

    def file(self) -> tuple[str, bytes, int, bool]:
        """As `forge.desktop.files.lay` takes it."""
        return self.path, self.data, self.mode, self.folder


class LayerNames(Wire):
    """Read-only layers by the digest of their content; the server was given them before."""

    commands: tuple[str, ...] = ()
    python: tuple[str, ...] = ()


class StartOf(Wire):
    """An application and what it opens."""

    app: str
    path: str | None = None


class SlotOrder(Order):
    """A slot that is wanted."""

    guest: Guest = Guest()
    files: tuple[FileBody, ...] = ()
    layers: LayerNames = LayerNames()
    lease: float | None = Field(
        None, gt=0, le=LONGEST_LEASE, description="seconds without a call after which it is taken back"
    )


class Announcement(SlotOrder):
    """A slot that will be wanted soon, with its applications."""

    start: tuple[StartOf, ...] = ()


class SlotFacts(Wire):
    """A slot that was lent."""

    id: str
    guest: Guest
    home: str = Field(description="the home's path inside")
    lease: float


class Status(Wire):
    """What a server has. `free` may be taken by somebody else meanwhile."""

    version: int = VERSION
    size: int
    free: int
    lease: float
    slots: tuple[str, ...] = ()


class Versions(Wire):
    """What results on this server depend on, without checks and layers."""

    fingerprint: Fingerprint


class LaunchOrder(Order):
    """An application to start and wait for."""

    app: str
    path: str | None = None
    timeout: float = Field(60.0, gt=0, le=600)


class ClockOrder(Order):
    """Let the guest's clock begin now, at this local time; at the guest's own if None."""

    at: str | None = None


class SettleOrder(Order):
    """How the screen is waited for."""

    first: _Settle = 0.6
    quiet: _Settle = 0.3
    timeout: _Settle = 8.0


class Waited(Wire):
    """Seconds that the screen was waited for."""

    seconds: float


class Picture(Wire):
    """A screenshot. `png` is left out where the client said that it knows this very picture."""

    sha256: str
    width: int
    height: int
    png: str | None = Field(None, description="base64")


class WindowBody(Wire):
    """A managed window."""

    id: int
    title: str
    x: int
    y: int
    width: int
    height: int
    active: bool

    @classmethod
    def of(cls, window: Window) -> WindowBody:
        return cls(**vars(window))

    def window(self) -> Window:
        return Window(**self.model_dump())


class PaneBody(Wire):
    """An area that the X server shows."""

    x: int
    y: int
    width: int
    height: int
    client: int | None

    @classmethod
    def of(cls, pane: Pane) -> PaneBody:
        return cls(**vars(pane))

    def pane(self) -> Pane:
        return Pane(**self.model_dump())


class Seen(Wire):
    """An observation."""

    picture: Picture
    windows: tuple[WindowBody, ...] = Field(description="the topmost last")
    elements: tuple[Element, ...] | None = Field(None, description="the accessibility tree, if it was asked for")


class ActOrder(Order):
    """One canonical action; with what is to be done around it."""

    action: Action
    find: bool = Field(False, description="look up what the pointer meets")
    settle: SettleOrder | None = SettleOrder()
    seconds_left: float | None = None
    output_limit: int = Field(acting.OUTPUT_LIMIT, ge=0, le=MOST_OUTPUT)
    known: str = Field("", description="SHA-256 of a picture the client has")


class ActAnswer(Wire):
    """What came of an action."""

    seen: Seen
    output: str
    exit_code: int | None
    error: bool
    element: Element | None
    latency_ms: float
    settle_ms: float


class InputOrder(Order):
    """Raw input in pixels: a method of `forge.desktop.input.Input` with its arguments."""

    what: str = Field(pattern="^(move|click|press|release|drag|scroll|type|key|down|up|hold|position)$")
    arguments: dict[str, Any] = {}


class Place(Wire):
    """Where the pointer is."""

    x: int
    y: int


class ExecOrder(Order):
    """A command for the slot's persistent shell, or its restart. `by_host`: it is none of the agent's."""

    command: str = ""
    by_host: bool = False
    timeout: float = Field(60.0, gt=0, le=3600)
    output_limit: int = Field(100_000, ge=0, le=MOST_OUTPUT)
    restart: bool = False


class ExecAnswer(Wire):
    """What a command gave, as `forge.desktop.shell.ShellResult`."""

    output: str = ""
    exit_code: int | None = None
    timed_out: bool = False
    truncated: bool = False


class AskOrder(Order):
    """A question to the supervisor in the slot's box, see `forge/desktop/inside/supervisor.py`."""

    what: str
    timeout: float = Field(30.0, gt=0, le=600)
    arguments: dict[str, Any] = {}


class Said(Wire):
    """An answer of the supervisor."""

    answer: Any


class FilesOrder(Order):
    """Files to be laid into the home."""

    files: tuple[FileBody, ...]


class Listed(Wire):
    """A regular file of the home."""

    path: str
    size: int
    mtime_ns: int


class Listing(Wire):
    """The home's files and folders, without what applications keep for themselves."""

    files: tuple[Listed, ...]
    folders: tuple[str, ...]


class StartOrder(Order):
    """Applications to open beforehand."""

    start: tuple[StartOf, ...]


class SnapshotFacts(Wire):
    """The home's state: its entries, and the archive with the content of its files, to be fetched by `name`."""

    name: str
    size: int
    entries: tuple[FileEntry, ...]


class HealthBody(Wire):
    """How a slot is, as `forge.desktop.health.Health`."""

    findings: tuple[tuple[str, str], ...]
    latency: float
    age: float

    @classmethod
    def of(cls, health: Health) -> HealthBody:
        findings = tuple((each.what, each.says) for each in health.findings)
        return cls(findings=findings, latency=health.latency, age=health.age)

    def health(self) -> Health:
        return Health(tuple(Finding(*each) for each in self.findings), self.latency, self.age)


class Renewal(Wire):
    """Slots whose leases are to begin anew; the answer names those that are still held."""

    slots: tuple[str, ...]


def refusal(fault: Mapping[str, Any]) -> str:
    """What is wrong, for a person: one of pydantic's faults with its field, and with the value that is out of bounds."""
    where = ".".join(str(part) for part in fault["loc"])
    value = f" = {fault['input']:g}" if fault["type"] in _BOUNDS else ""
    return f"{where}{value}: {fault['msg']}"


def picture(shot: Screenshot, known: str = "") -> Picture:
    """A screenshot for the wire."""
    import base64
    import hashlib

    name = hashlib.sha256(shot.png).hexdigest()
    png = None if name == known else base64.b64encode(shot.png).decode()
    return Picture(sha256=name, width=shot.width, height=shot.height, png=png)
