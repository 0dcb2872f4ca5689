"""Scripts of `python` nodes: whatever they do, the answer is a value or an error at their own line."""

from __future__ import annotations

from dataclasses import replace

import pytest

import skills
from forge.desktop.box import Completed
from forge.records import DesktopError, InputError
from skills.kitchen import run_in_box

HEAD = "def compute(rows, topic):\n"
BAD = [
    ("raises", HEAD + "    x = {}\n    return x['numbers']\n", r"stats\.py:3: stats: KeyError: 'numbers'"),
    ("raises in a helper", "def f():\n    return 1 / 0\n\n\n" + HEAD + "    f()\n", r"stats\.py:2: .*ZeroDivision"),
    ("says why", HEAD + "    print('looked at', rows)\n    assert False\n", r"stats\.py:3: .*printed: looked at \d"),
    ("exits", HEAD + "    raise SystemExit(3)\n", r"stats\.py:2: stats: SystemExit: 3"),
    ("ends the process", HEAD + "    import os\n    os._exit(4)\n", r"yaml:10: .* no JSON value but '' \(exit code 4\)"),
    ("garbage", HEAD + "    import os\n    os.write(3, b'{oops')\n    return 1\n", r"yaml:10: .* no JSON value"),
    ("no JSON", HEAD + "    return {1, 2}\n", r"yaml:10: .*not JSON serializable"),
    ("NaN", HEAD + "    return float('nan')\n", r"yaml:10: .*Out of range float"),
    ("wrong shape", HEAD + "    return {'numbers': ['a'], 'label': ''}\n", r"numbers\[0\] should be a number, not a text"),
    ("lacks a key", HEAD + "    return {'numbers': []}\n", r"yaml:10: stats: stats\.py: its value lacks 'label'"),
    ("says more", HEAD + "    return {'numbers': [], 'label': '', 'x': 1}\n", r"has 'x', which is not declared"),
]  # fmt: skip


@pytest.mark.parametrize(("script", "message"), [b[1:] for b in BAD], ids=[b[0] for b in BAD])
def test_a_bad_script_is_named(write, kitchen, script, message):
    workflow = skills.load(write(stats=script))
    with pytest.raises(InputError, match=message):
        skills.draw(workflow, 1, kitchen)


def test_a_loop_ends(write, kitchen):
    path = write(("gives: {numbers", "seconds: 0.5, gives: {numbers"), stats=HEAD + "    while True: pass\n")
    with pytest.raises(InputError, match=r"yaml:10: stats: stats\.py did not end within 0\.5 seconds"):
        skills.draw(skills.load(path), 1, kitchen)


def test_prints_are_no_answer(write, kitchen):
    script = 'print("{}")\n' + HEAD + '    print("x" * 100000)\n    return {"numbers": [30], "label": topic}\n'
    assert skills.draw(skills.load(write(stats=script)), 1, kitchen).task.resolved["total"] == 30


def test_sets_have_one_order(write, kitchen):
    script = HEAD + '    return {"numbers": [30], "label": ",".join({"a", "b", "c", "d", "e", "f"})}\n'
    workflow = skills.load(write(stats=script))
    labels = {skills.draw(workflow, 1, kitchen.without_cache()).task.resolved["stats"]["label"] for _ in range(3)}
    assert len(labels) == 1


def test_a_fault_of_the_box_is_no_fault_of_the_workflow(write, kitchen):
    calls = []

    def broken(argv, stdin, timeout):
        calls.append(argv)
        if len(calls) == 1:
            raise DesktopError("no box")
        return kitchen.boxed(argv, stdin, timeout)

    workflow = skills.load(write())
    shared = replace(kitchen, boxed=broken)
    with pytest.raises(DesktopError):
        skills.draw(workflow, 5, shared)
    assert skills.draw(workflow, 5, shared) == skills.draw(workflow, 5, kitchen)


def test_an_answer_that_was_cut_is_none(write, kitchen):
    def cut(argv, stdin, timeout):
        return Completed(0, b'{"value": 1', b"", False, True, 0.1)

    with pytest.raises(InputError, match="gave no JSON value"):
        skills.draw(skills.load(write()), 5, replace(kitchen, boxed=cut))


@pytest.mark.desktop
def test_scripts_run_in_a_box(write, kitchen):
    script = """\
import os, socket


def compute(rows, topic):
    try:
        socket.create_connection(("192.0.2.1", 80), 1)
        net = "network"
    except OSError:
        net = "no network"
    open("scratch", "w").write("x")
    seen = [name for name in ("/work", "/root", "/repo") if os.path.exists(name)]
    return {"numbers": [30], "label": f"{os.path.expanduser('~')} {net} {seen} {len(os.listdir('.'))}"}
"""
    workflow = skills.load(write(stats=script))
    boxed = replace(kitchen, boxed=run_in_box).without_cache()
    for _ in range(2):
        assert skills.draw(workflow, 1, boxed).task.resolved["stats"]["label"] == "/home/alex no network [] 1"
    assert skills.draw(skills.load(write(name="plain")), 5, boxed) == skills.draw(
        skills.load(write(name="plain")), 5, kitchen
    )
