"""The public face: all its names are there, it comes from this repository, and it costs nothing to import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import forge.desktop
from forge.desktop import doctor, fingerprint
from forge.desktop.versions import hash_folder


@pytest.mark.parametrize("name", forge.desktop.__all__)
def test_names_are_there(name: str) -> None:
    assert getattr(forge.desktop, name) is not None
    assert name in dir(forge.desktop)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no_such_thing"):
        _ = forge.desktop.no_such_thing


def test_importing_loads_nothing_heavy() -> None:
    code = """
        import sys
        import forge.records
        before = set(sys.modules)
        import forge.desktop
        from forge.desktop.office import OfficeClient
        OfficeClient('/nowhere')
        heavy = {m.partition('.')[0] for m in set(sys.modules) - before} & {'Xlib', 'mss', 'numpy', 'isal', 'PIL', 'openpyxl'}
        print(sorted(heavy), len(set(sys.modules) - before) < 40)
    """
    import textwrap

    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[] True"


def test_the_fingerprint_names_what_is_installed() -> None:
    found = fingerprint({"calc.cell_value": 3})
    assert found.checks == {"calc.cell_value": 3}
    assert {"libreoffice-calc", "thunderbird", "bubblewrap"} <= set(found.applications)
    assert len(found.fonts) == 16
    assert found.digest() == fingerprint({"calc.cell_value": 3}).digest()
    assert found.digest() != fingerprint({"calc.cell_value": 4}).digest()


def test_a_layers_hash_follows_its_content(tmp_path: Path) -> None:
    (tmp_path / "tool").write_text("one")
    first = hash_folder(tmp_path)
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "__pycache__" / "tool.pyc").write_text("x")
    assert hash_folder(tmp_path) == first
    (tmp_path / "tool").write_text("two")
    assert hash_folder(tmp_path) != first


@pytest.mark.desktop
def test_the_doctor_finds_all_and_says_how_to_mend(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    well = doctor()
    assert [(r.name, r.found) for r in well if not r.ok] == []
    assert len({r.name for r in well}) == len(well) > 15
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("FORGE_CACHE", str(tmp_path / "cache"))
    ill = {r.name: r for r in doctor()}
    assert not ill["program bwrap"].ok
    assert "bubblewrap" in ill["program bwrap"].mend
    assert not ill["a box can be made"].ok
    assert not ill["the guest's clock compiles"].ok
    assert "gcc" in ill["the guest's clock compiles"].mend
