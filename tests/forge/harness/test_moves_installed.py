"""Installed applications, as choosers show them."""

from pathlib import Path

import pytest

from forge.harness.moves.installed import Entry, installed

ENTRY = """[Desktop Entry]
Type=Application
Name=Sheets
Name[de]=Blätter
Exec=sheets %U
Categories=GTK;Office;
"""


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (ENTRY, Entry("Sheets", "Office")),
        (ENTRY.replace("sheets %U", "sheets --preferences"), None),
        (ENTRY.replace("sheets %U", "sheets"), None),
        (ENTRY.replace("Exec=sheets", "Exec=other"), None),
        (ENTRY + "NoDisplay=true\n", None),
        (ENTRY + "OnlyShowIn=XFCE;\n", None),
        (ENTRY.replace("GTK;Office;", "GTK;"), None),
        (ENTRY.replace("Name=Sheets\n", ""), None),
        ("no entry at all", None),
        (ENTRY.replace("sheets %U", "'sheets %U"), None),
    ],
)
def test_an_entry_that_opens_files_with_a_command_is_found(text: str, found: Entry | None, tmp_path: Path) -> None:
    (tmp_path / "a.desktop").write_text(text, encoding="utf-8")
    assert installed("sheets", tmp_path) == found


def test_links_are_followed_and_bytes_that_are_no_text_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sheets-2").write_text("#!/bin/sh\n")
    (tmp_path / "sheets-2").chmod(0o755)
    (tmp_path / "sheets").symlink_to("sheets-2")
    monkeypatch.setenv("PATH", str(tmp_path))
    (tmp_path / "a.desktop").write_bytes(b"[Desktop Entry]\nName=\xff\n")
    (tmp_path / "b.desktop").write_text(ENTRY.replace("sheets %U", "sheets-2 %F"))
    assert installed("sheets", tmp_path) == Entry("Sheets", "Office")


def test_editors_and_painters_of_this_machine_are_found() -> None:
    assert installed("mousepad") == Entry("Mousepad", "Accessories")
    assert installed("gimp") == Entry("GNU Image Manipulation Program", "Graphics")
