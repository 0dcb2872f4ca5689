"""Harness files: presets load; every mistake is an error with file and line."""

from pathlib import Path

import pytest

from forge.harness.load import layers_for, load_harness, preset_names
from forge.harness.prompt import system_prompt
from forge.records import HarnessError, InputError, TerminalSpec

GOOD = """\
name: mine
channel: hybrid
tools: [computer, bash, answer, done]
system_prompt: Act. You have {{ max_turns }} turns.
max_turns: 7
observation:
  width: 640
"""


def test_the_presets_are_gui_with_and_without_elements_terminal_and_hybrid() -> None:
    assert preset_names() == ["gui", "gui-elements", "hybrid", "terminal"]
    for name in preset_names():
        harness = load_harness(name)
        assert (harness.name, harness.channel) == (name, name.partition("-")[0])
    assert load_harness("hybrid").tools == ("computer", "bash", "answer", "done")
    assert load_harness("gui").tools == ("computer", "answer", "done")
    assert load_harness("terminal").tools == ("bash", "answer", "done")
    assert not load_harness("terminal").observation.screenshot
    shows = {name for name in preset_names() if load_harness(name).observation.elements}
    assert shows == {"gui-elements"}
    assert [("in brackets" in system_prompt(load_harness(name))) for name in ("gui", "gui-elements")] == [False, True]


def test_a_prompt_speaks_only_of_what_the_harness_has() -> None:
    assert "`bash`" not in system_prompt(load_harness("gui"))
    assert "Coordinates" not in system_prompt(load_harness("terminal"))
    hybrid = system_prompt(load_harness("hybrid"))
    assert "`bash`" in hybrid
    assert "Coordinates" in hybrid


def test_layers_are_real_folders() -> None:
    for name in preset_names():
        layers = layers_for(load_harness(name))
        assert all(folder.is_dir() for folder in (*layers.commands, *layers.python))


def test_a_file_of_one_s_own_loads(tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD)
    harness = load_harness(path)
    assert harness.max_turns == 7
    assert harness.observation.width == 640
    assert system_prompt(harness) == "Act. You have 7 turns."


def test_the_prompt_may_lie_in_a_file_beside_it(tmp_path: Path) -> None:
    (tmp_path / "p.jinja").write_text("Hello {{ user }}")
    path = tmp_path / "mine.yaml"
    path.write_text(GOOD.replace("Act. You have {{ max_turns }} turns.", "{file: p.jinja}"))
    assert system_prompt(load_harness(path)) == "Hello alex"


@pytest.mark.parametrize(
    ("old", "new", "line", "message"),
    [
        ("max_turns: 7", "max_turns: many", 5, "max_turns: Input should be a valid integer"),
        ("max_turns: 7", "max_turn: 7", 5, "max_turn: Extra inputs are not permitted"),
        ("  width: 640", "  width: -1", 7, "observation.width: Input should be greater than or equal to 0"),
        ("  width: 640", "  wide: 640", 7, "observation.wide: Extra inputs"),
        ("max_turns: 7", "max_turns: [7", 6, "bad YAML"),
        ("max_turns: 7", "max_turns: 7\ndialect: klingon", 6, "unknown dialect 'klingon'"),
        ("max_turns: 7", "max_turns: 7\nterminal:\n  python: [nosuch]", 6, "no layer 'nosuch'"),
        ("max_turns: 7", "max_turns: 7\nactions: [tap]", 6, "no action 'tap'"),
        ("[computer, bash, answer, done]", "[computer, answer, done]", 3, "a hybrid harness has bash and computer"),
        ("[computer, bash, answer, done]", "[computer, bash]", 3, "without `done`"),
        ("[computer, bash, answer, done]", "[computer, bash, done, fly]", 3, "tools.3: Input should be"),
        ("{{ max_turns }}", "{{ max_trns }}", 4, "'max_trns' is undefined"),
        ("{{ max_turns }}", "{% if %}", 4, "system_prompt of harness 'mine'"),
        ("Act. You have {{ max_turns }} turns.", "{file: nosuch.jinja}", 4, "a file beside this one"),
        ("system_prompt: Act. You have {{ max_turns }} turns.\n", "", 1, "system_prompt: Field required"),
    ],
)
def test_a_mistake_is_named_with_file_and_line(tmp_path: Path, old: str, new: str, line: int, message: str) -> None:
    path = tmp_path / "mine.yaml"
    assert old in GOOD
    path.write_text(GOOD.replace(old, new))
    with pytest.raises(InputError) as caught:
        load_harness(path)
    assert message in str(caught.value)
    assert (caught.value.file, caught.value.line) == (str(path), line)


def test_unknown_names_list_what_there_is(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="presets are gui, gui-elements, hybrid, terminal"):
        load_harness("guy")
    with pytest.raises(InputError, match="no harness file"):
        load_harness(tmp_path / "none.yaml")
    (tmp_path / "list.yaml").write_text("[1, 2]")
    with pytest.raises(InputError, match="a harness is a mapping"):
        load_harness(tmp_path / "list.yaml")
    harness = load_harness("gui").model_copy(update={"terminal": TerminalSpec(commands=("nosuch",))})
    with pytest.raises(HarnessError, match="no layer 'nosuch' with a bin/ folder"):
        layers_for(harness)
