"""`python`: a value made by a script beside the workflow, run in a box: JSON in, JSON out, pure.

The script defines `compute`; the keys of `with` are its arguments and what it returns is the node's value. It runs with
the system's Python and its standard library, without network and with an empty home, and never in our process.
What it prints is shown when it fails and otherwise dropped.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from typing import Any, ClassVar

from forge.records import JSON, InputError
from skills.language.located import Located, Place, nearest
from skills.language.shapes import ANY, Shape, mismatch, shape
from skills.language.template import Record, Template, compile_template
from skills.nodes.base import Node, NodeKind, Outcome, Reading, Station, node_kind, only_keys

_SECONDS = 10.0

# The script's own prints go to standard error; the answer leaves through the descriptor that was standard output.
_RUNNER = r"""
import json, os, sys, traceback
out = os.dup(1)
os.dup2(2, 1)
job = json.loads(sys.stdin.buffer.read())
sys.stdin = open(os.devnull)
def tell(what):
    data = json.dumps(what, allow_nan=False, ensure_ascii=False).encode()
    while data:
        data = data[os.write(out, data):]
try:
    scope = {"__name__": "compute", "__file__": job["file"]}
    exec(compile(job["code"], job["file"], "exec"), scope)
    tell({"value": scope["compute"](**job["with"])})
except BaseException as error:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == job["file"]]
    line = error.lineno if isinstance(error, SyntaxError) else frames[-1].lineno if frames else None
    tell({"error": f"{type(error).__name__}: {error}"[:500], "line": line})
"""
# The same order of sets on every run, no user site, nothing written beside the standard library.
_ARGV = ("/usr/bin/env", "PYTHONHASHSEED=0", "PYTHONDONTWRITEBYTECODE=1", "/usr/bin/python3", "-s", "-c", _RUNNER)


class Python(Node):
    """A script with its arguments."""

    def __init__(self, name: str, place: Place, script: Script, args: Record, gives: Shape, seconds: float):
        super().__init__(name, place, args.names)
        self.script = script
        self.args = args
        self.gives = gives
        self.seconds = seconds

    @property
    def identity(self) -> JSON:
        return ["python", self.script.code]

    def keeps(self, station: Station) -> bool:
        return True

    def infer(self, scope: Mapping[str, Shape]) -> Shape:
        self.args.infer(scope)
        return self.gives

    def render(self, scope: Mapping[str, Any]) -> JSON:
        return self.args.render(scope)

    def run(self, inputs: JSON, station: Station) -> Outcome:
        job = {"code": self.script.code, "file": self.script.file, "with": inputs}
        done = station.kitchen.boxed(_ARGV, json.dumps(job).encode(), self.seconds)
        said = done.stderr.decode(errors="replace").strip()[-500:]
        if done.timed_out:
            raise self.error(
                f"{self.script.file} did not end within {self.seconds:g} seconds",
                "look for an endless loop, or allow more with `seconds:`",
            )
        try:
            if done.truncated:
                raise ValueError("too long")
            answer = json.loads(done.stdout)
            value, fault = answer.get("value"), answer.get("error")
        except (ValueError, AttributeError, RecursionError):
            shown = done.stdout[:80].decode(errors="replace")
            raise self.error(
                f"{self.script.file} gave no JSON value but {shown!r} (exit code {done.exit_code}){_printed(said)}",
                "return the value from compute(); do not write to file descriptors or end the process",
            ) from None
        if fault is not None:
            raise self.script.error(answer.get("line"), f"{self.name}: {fault}{_printed(said)}", self.place)
        if problem := mismatch(value, self.gives, "its value"):
            raise self.error(f"{self.script.file}: {problem}", "mend `gives:` or what compute() returns")
        return Outcome(value)


class Script:
    """A Python file beside the workflow.

    Raises:
        InputError: it cannot be read, is no Python, or lacks the function.
    """

    def __init__(self, where: Located, reading: Reading, what: str):
        self.file = where.text(what)
        self.path = str(reading.source.folder / self.file)
        data = reading.source.read(self.file, where.place, what)
        try:
            self.code = data.decode()
            self.tree = ast.parse(self.code)
        except SyntaxError as error:
            raise InputError(f"no Python: {error.msg}", file=self.path, line=error.lineno) from None
        except ValueError as error:
            raise InputError(f"no Python: {error}", file=self.path) from None

    def error(self, line: int | None, message: str, place: Place) -> InputError:
        """An InputError in the script, or at `place` when the line is not known."""
        return place.error(message) if line is None else InputError(message, file=self.path, line=line)

    def function(self, name: str) -> ast.FunctionDef:
        """The function of that name at the top level. Raises InputError when there is none."""
        for part in self.tree.body:
            if isinstance(part, ast.FunctionDef) and part.name == name:
                return part
        raise InputError(
            f"defines no function {name}()", file=self.path, line=1, mend=f"write def {name}(...): return ..."
        )


@node_kind
class PythonKind(NodeKind):
    """A script's `compute(...)`, run in the box: `{python: f.py, with: {...}, gives: {total: number}}`.

    Its value is what `compute` returns: JSON (texts, numbers, truths, null, lists, records with texts as keys). The script has
    Python 3.11's standard library, no network and an empty home; no clock and no chance of its own: the same arguments give the
    same value (for chance hash the arguments, or pass `{sample: {int: [1, 99999]}}`). `gives` is a shape: text, number, bool,
    any, a list `[text]`, a record `{total: number, rows: [{name: text}], ...: any}` (`...`: there may be more).
    A `choice` may draw from its value: `{choice: "${made.customers}"}`.
    """

    name = "python"
    keys: ClassVar[dict[str, str]] = {
        "python": "a script of the draft, x.py, that defines `compute(...)`",
        "with": "its named arguments",
        "gives": "the shape of what it returns; any unless given",
        "seconds": "its time limit, at most 120; 10 unless given",
    }
    example = """\
sums: {python: sums.py, with: {numbers: [3, 4, 5]}, gives: {total: number, even: [number]}}
"""
    files: ClassVar[dict[str, str]] = {
        "sums.py": """\
def compute(numbers):
    return {"total": sum(numbers), "even": [n for n in numbers if n % 2 == 0]}
"""
    }
    gives = '{"total": 12, "even": [4]}'

    def read(self, name: str, spec: dict[str, Located], place: Place, reading: Reading) -> Node:
        only_keys(spec, tuple(self.keys), f"{name}: python", reading.problems)
        script = Script(spec[self.name], reading, f"{name}: python")
        args = spec["with"].mapping(f"{name}: with") if "with" in spec else {}
        _check_signature(script, args, spec.get("with", spec[self.name]), name, reading)
        gives: Shape = ANY
        if "gives" in spec:
            try:
                gives = shape(spec["gives"].plain())
            except ValueError as error:
                raise spec["gives"].error(f"{name}: gives: {error}") from None
        templates: dict[str, Template] = {key: compile_template(value) for key, value in args.items()}
        return Python(name, place, script, Record(templates, place), gives, _seconds(spec.get("seconds"), name))


def _check_signature(script: Script, given: dict[str, Located], where: Located, name: str, reading: Reading) -> None:
    arguments = script.function("compute").args
    if arguments.kwarg or arguments.vararg or arguments.posonlyargs:
        raise script.error(script.function("compute").lineno, "compute() takes named arguments only", where.place)
    positional = [a.arg for a in arguments.args]
    required = positional[: len(positional) - len(arguments.defaults)]
    required += [a.arg for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is None]
    known = positional + [a.arg for a in arguments.kwonlyargs]
    for key, value in given.items():
        if key not in known:
            reading.problems.add(value.place, f"{name}: compute() takes no {key!r}", nearest(key, known))
    for key in required:
        if key not in given:
            reading.problems.add(where.place, f"{name}: compute() needs {key!r}", f"write with: {{{key}: ...}}")


def _seconds(value: Located | None, name: str) -> float:
    if value is None:
        return _SECONDS
    if isinstance(value.value, bool) or not isinstance(value.value, int | float) or not 0 < value.value <= 120:
        raise value.error(f"{name}: seconds must be a number above 0 and at most 120")
    return float(value.value)


def _printed(said: str) -> str:
    return f"; it printed: {said}" if said else ""
