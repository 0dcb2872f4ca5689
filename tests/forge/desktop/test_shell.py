"""The persistent shell: state stays, time and output are bounded, and it always answers."""

from __future__ import annotations

import os
import time

import pytest

from forge.desktop.slot import Slot
from tests.forge.desktop.conftest import becomes

pytestmark = [pytest.mark.desktop, pytest.mark.xdist_group("shell")]


def test_state_stays_between_commands(plain_slot: Slot) -> None:
    shell = plain_slot.shell
    shell.run("mkdir -p sub; cd sub; NAME='a b'; export SHOWN=1; f() { echo \"<$1>\"; }")
    result = shell.run('pwd; echo "$NAME"; env | grep SHOWN; f x')
    assert result.output.split("\n") == ["/home/alex/sub", "a b", "SHOWN=1", "<x>", ""]
    assert (result.exit_code, result.timed_out, result.truncated) == (0, False, False)


@pytest.mark.parametrize(
    ("command", "code"),
    [
        ("true", 0),
        ("false", 1),
        ("(exit 42)", 42),
        ("no-such-command", 127),
        ("echo 'unclosed", 2),
        ("for", 2),
        ("(kill -9 $BASHPID)", 137),
    ],
)
def test_exit_codes(plain_slot: Slot, command: str, code: int) -> None:
    assert plain_slot.shell.run(command).exit_code == code


@pytest.mark.parametrize("told", ["$2 x", "$2", "$2 -5000000000", "$2 100000000000000000000000000000"])
def test_a_function_that_takes_the_place_of_printf_breaks_no_slot(plain_slot: Slot, told: str) -> None:
    result = plain_slot.shell.run(f'printf() {{ echo "{told}"; }}')
    assert result.exit_code is None
    assert "the shell had to be killed; a new one was started" in result.output
    assert plain_slot.shell.run("(exit 42)").exit_code == 42


def test_both_streams_come_in_order(plain_slot: Slot) -> None:
    assert plain_slot.shell.run("echo 1; echo 2 >&2; echo 3").output == "1\n2\n3\n"


def test_many_lines_quotes_and_odd_characters(plain_slot: Slot) -> None:
    command = "cat <<'EOF'\nit's \"quoted\" $HOME `x` \\ !! 你好\n\ttab\nEOF\nprintf '%s|' a\\ b \"c'd\"\n"
    assert plain_slot.shell.run(command).output == "it's \"quoted\" $HOME `x` \\ !! 你好\n\ttab\na b|c'd|"


def test_a_long_command_goes_through(plain_slot: Slot) -> None:
    text = "x" * 200_000
    assert plain_slot.shell.run(f"printf %s {text} | wc -c").output.strip() == "200000"


def test_input_is_empty(plain_slot: Slot) -> None:
    result = plain_slot.shell.run('cat; read line; echo "[$line]"', timeout=10)
    assert (result.output, result.timed_out) == ("[]\n", False)


@pytest.mark.parametrize(
    "command",
    [
        "sleep 60",
        "for i in 1 2 3 4 5 6 7 8 9; do sleep 1; done",
        "while true; do :; done",
        "(trap '' INT TERM; sleep 60)",
        "python3 -c 'import time, signal; signal.signal(2, signal.SIG_IGN); time.sleep(60)'",
        "yes > /dev/null",
        "echo before; cat /dev/zero | sleep 60",
    ],
)
def test_at_the_time_limit_the_command_ends_and_the_shell_goes_on(plain_slot: Slot, command: str) -> None:
    shell = plain_slot.shell
    shell.run("cd /home/alex; KEPT=yes")
    began = time.monotonic()
    result = shell.run(command, timeout=0.5)
    assert time.monotonic() - began < 5
    assert (result.timed_out, result.exit_code) == (True, None)
    assert "killed" not in result.output
    assert shell.run("echo $KEPT").output == "yes\n"
    assert becomes(lambda: shell.run("ps -A -o comm= | grep -cE 'sleep|yes|python3'").output.strip() == "0")


def test_a_shell_that_cannot_be_interrupted_is_replaced(plain_slot: Slot) -> None:
    shell = plain_slot.shell
    shell.run("trap '' INT; LOST=1")
    result = shell.run("while true; do :; done", timeout=0.3)
    assert result.timed_out
    assert "a new one was started" in result.output
    assert shell.run('echo "[$LOST]"; pwd').output == "[]\n/home/alex\n"


@pytest.mark.parametrize(("command", "code"), [("exit 5", 5), ("exec true", 0), ("kill -9 $$", 137)])
def test_a_shell_that_ends_is_replaced(plain_slot: Slot, command: str, code: int) -> None:
    result = plain_slot.shell.run(f"echo last words; {command}")
    assert result.exit_code == code
    assert result.output.startswith("last words\n[the shell ended")
    assert plain_slot.shell.run("echo again").output == "again\n"


def test_a_shell_that_has_closed_its_home_to_itself_is_replaced_and_can_mend_that(plain_slot: Slot) -> None:
    shell = plain_slot.shell
    try:
        assert shell.run("chmod 000 ~; exit 5").exit_code == 5
        assert shell.run("cd").output.endswith("/home/alex: Permission denied\n")
    finally:
        assert shell.run("chmod 700 ~; cd; pwd").output == "/home/alex\n"


def test_restarting_ends_what_it_left_in_the_background(plain_slot: Slot) -> None:
    shell = plain_slot.shell
    shell.run("cd /tmp; X=1; (while true; do date +%N > /home/alex/beat; sleep 0.02; done) &")
    assert becomes(lambda: (plain_slot.home / "beat").exists())
    shell.restart()
    before = (plain_slot.home / "beat").read_bytes()
    assert shell.run('pwd; echo "[$X]"').output == "/home/alex\n[]\n"
    time.sleep(0.1)
    assert (plain_slot.home / "beat").read_bytes() == before


def test_a_background_child_holds_nothing_up_and_goes_on(plain_slot: Slot) -> None:
    shell = plain_slot.shell
    began = time.monotonic()
    result = shell.run("sleep 30 & (sleep 0.3; touch /home/alex/later) & echo started")
    assert time.monotonic() - began < 5
    assert result.output.endswith("started\n")
    assert becomes(lambda: (plain_slot.home / "later").exists())
    shell.restart()


def test_long_output_keeps_its_beginning_and_end(plain_slot: Slot) -> None:
    result = plain_slot.shell.run("seq 1 200000", output_limit=1000)
    assert result.truncated
    assert result.output.startswith("1\n2\n3\n")
    assert result.output.endswith("199999\n200000\n")
    assert "bytes left out" in result.output
    assert len(result.output) < 1100
    assert plain_slot.shell.run("printf 'ü%.0s' {1..500}", output_limit=501).truncated


def test_output_that_is_no_text_is_shown_somehow(plain_slot: Slot) -> None:
    assert plain_slot.shell.run(r"printf 'a\xff\x00b'").output.replace("\0", "") == "a\ufffdb"


def test_it_sees_no_application_and_not_the_supervisor(plain_slot: Slot) -> None:
    output = plain_slot.shell.run("ps -A -o args=").output
    assert "supervisor" not in output
    assert "dbus-daemon" not in output


def test_it_cannot_reach_the_supervisor(plain_slot: Slot) -> None:
    shell = plain_slot.shell
    shell.run("kill -9 1; kill -9 -1", timeout=5)
    plain_slot.alive()
    code = (
        "import os; print([os.readlink(f'/proc/self/fd/{n}') for n in os.listdir('/proc/self/fd') if n not in '012'])"
    )
    assert "socket" not in shell.run(f'python3 -c "{code}"').output
    assert shell.run("ls /proc/1/fd 2>&1 | wc -l; grep NoNewPrivs /proc/self/status").output.split()[-1] == "1"
    assert shell.run("unshare --user true").exit_code == 1


def test_it_has_the_slots_screen_and_clock(plain_slot: Slot) -> None:
    assert plain_slot.shell.run("echo $DISPLAY; date +%F").output == f"{plain_slot.display}\n2026-03-16\n"


def test_there_is_no_network_and_no_host(plain_slot: Slot) -> None:
    assert plain_slot.shell.run("cut -d: -f1 /proc/net/dev | tail -n +3").output.split() == ["lo"]
    assert plain_slot.shell.run(f"ls {plain_slot.home}").exit_code == 2
    assert plain_slot.shell.run("ls /tmp/.X11-unix").output.split() == [f"X{plain_slot.display[1:]}"]
    assert plain_slot.shell.run(f"ls /proc/{os.getpid()}").exit_code == 2
