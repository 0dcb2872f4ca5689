"""Reading files that are damaged or built to harm: a PreparerError that names the file, and nothing unpacked."""

from __future__ import annotations

import gzip
import io
import struct
import tarfile
import tracemalloc
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forge.records import PreparerError
from preparers.files.containers import Member, gzip_bytes, tar_bytes, zip_bytes
from preparers.files.reading import describe, image_size, kind_of, read_csv, read_members

MEMBERS = [
    Member("docs", folder=True, mode=0o755),
    Member("docs/a.txt", b"alpha\n" * 100, mtime=1_700_000_000),
    Member("run.sh", b"#!/bin/sh\n", mode=0o755),
    Member("é" * 60 + ".txt", b"long and not ASCII"),
    Member("empty.txt"),
]
WRITERS: dict[str, Callable[[list[Member]], bytes]] = {
    ".zip": zip_bytes,
    ".tar": tar_bytes,
    ".tar.gz": lambda members: gzip_bytes(tar_bytes(members)),
}


def problem(read: Callable[[], object], otherwise: str) -> str:
    """What PreparerError said, or `otherwise` when reading went well."""
    try:
        read()
    except PreparerError as error:
        return error.message
    return otherwise


@pytest.mark.parametrize("suffix", WRITERS)
def test_archives_written_by_hand_are_read_by_the_standard_library(suffix: str) -> None:
    found = read_members(f"~/a{suffix}", WRITERS[suffix](MEMBERS))
    assert found == {
        m.name: ("folder" if m.folder else "file", b"" if m.folder else m.data, 0o755 if m.folder else m.mode)
        for m in MEMBERS
    }


@pytest.mark.parametrize("suffix", WRITERS)
def test_archives_are_read_by_the_tools_of_the_guest(suffix: str, tmp_path: Path) -> None:
    import subprocess

    path = tmp_path / f"a{suffix}"
    path.write_bytes(WRITERS[suffix](MEMBERS))
    command = ["unzip", "-q", str(path)] if suffix == ".zip" else ["tar", "xf", str(path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, env={"LANG": "C.UTF-8", "PATH": "/usr/bin:/bin"})
    assert (done.returncode, done.stderr) == (0, b"")
    assert (tmp_path / "docs/a.txt").read_bytes() == MEMBERS[1].data
    assert (tmp_path / "run.sh").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / MEMBERS[3].name).read_bytes() == MEMBERS[3].data


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_truncated_archive_is_named_wherever_it_is_cut(suffix: str) -> None:
    data = WRITERS[suffix](MEMBERS)
    # Whole blocks of zeros at the end of a tar are padding: without them nothing is lost.
    length = len(data.rstrip(b"\0")) if suffix == ".tar" else len(data)
    for end in range(0, length, max(1, length // 60)):
        with pytest.raises(PreparerError, match=rf"~/Documents/a{suffix}"):
            read_members(f"~/Documents/a{suffix}", data[:end])


@given(st.sampled_from(sorted(WRITERS)), st.integers(0, 10**6), st.integers(1, 255))
def test_a_damaged_archive_is_read_right_or_named(suffix: str, place: int, change: int) -> None:
    data = bytearray(WRITERS[suffix](MEMBERS))
    data[place % len(data)] ^= change
    assert f"~/a{suffix}" in problem(lambda: read_members(f"~/a{suffix}", bytes(data)), f"~/a{suffix}")


@given(
    st.sampled_from(["a.zip", "a.tar", "a.tgz", "a.docx", "a.pptx", "a.csv", "a.json", "a.ini", "a.png", "a.txt"]),
    st.binary(),
)
def test_no_bytes_raise_anything_else(name: str, data: bytes) -> None:
    assert name in problem(lambda: describe(name, data), name)


def bomb_zip() -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("zeros.txt", bytes(80 << 20))
    return target.getvalue()


def liar_zip() -> bytes:
    """Says in both headers that its member is small."""
    data = bytearray(bomb_zip())
    real = struct.pack("<I", 80 << 20)
    while real in data:
        place = data.index(real)
        data[place : place + 4] = struct.pack("<I", 1000)
    return bytes(data)


def many_zip() -> bytes:
    return zip_bytes(Member(f"{i}.txt") for i in range(10_001))


def sum_zip() -> bytes:
    import random

    noise = random.Random(0).randbytes(1 << 20)
    return zip_bytes((Member(f"{i}.bin", noise) for i in range(65)), compress=False)


@pytest.mark.parametrize(
    ("name", "make", "said"),
    [
        ("bomb.zip", bomb_zip, "taken for a bomb"),
        ("liar.zip", liar_zip, "liar.zip"),
        ("many.zip", many_zip, "more than 10000 members"),
        ("sum.zip", sum_zip, "taken for a bomb"),
        ("bomb.tar.gz", lambda: gzip.compress(bytes(80 << 20)), "taken for a bomb"),
        ("bomb.docx", bomb_zip, "taken for a bomb"),
    ],
)
def test_a_bomb_is_refused_without_being_unpacked(name: str, make: Callable[[], bytes], said: str) -> None:
    data = make()
    tracemalloc.start()
    try:
        with pytest.raises(PreparerError, match=said):
            describe(f"~/Downloads/{name}", data)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 150 << 20


@pytest.mark.parametrize("member", ["../x", "/etc/passwd", "a/../../x", "..", "a\\b"])
@pytest.mark.parametrize("suffix", WRITERS)
def test_a_member_that_leads_out_is_refused(member: str, suffix: str) -> None:
    with pytest.raises(PreparerError, match="leads out of the archive"):
        read_members(f"a{suffix}", WRITERS[suffix]([Member(member, b"x")]))


@pytest.mark.parametrize("suffix", WRITERS)
def test_a_member_that_is_there_twice_is_refused(suffix: str) -> None:
    with pytest.raises(PreparerError, match="holds 'x' twice"):
        read_members(f"a{suffix}", WRITERS[suffix]([Member("x", b"1"), Member("x", b"2")]))


def test_links_in_archives_are_said_to_be_links() -> None:
    target = io.BytesIO()
    with tarfile.open(fileobj=target, mode="w") as archive:
        for kind, name in ((tarfile.SYMTYPE, "sym"), (tarfile.LNKTYPE, "hard"), (tarfile.FIFOTYPE, "pipe")):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, "/etc/passwd"
            archive.addfile(info)
    assert {name: kind for name, (kind, _, _) in read_members("a.tar", target.getvalue()).items()} == {
        "sym": "link",
        "hard": "link",
        "pipe": "other",
    }


def test_an_encrypted_zip_is_refused() -> None:
    data = bytearray(zip_bytes([Member("x.txt", b"secret")]))
    for mark, offset in ((b"PK\x01\x02", 8), (b"PK\x03\x04", 6)):
        data[data.index(mark) + offset] |= 1
    with pytest.raises(PreparerError, match=r"a\.zip cannot be unpacked: .*encrypted"):
        read_members("a.zip", bytes(data))


def test_xml_entities_are_not_expanded() -> None:
    pairs = zip("abcdefgh", "bcdefghi", strict=True)
    entities = "".join(f'<!ENTITY {big} "{f"&{small};" * 10}">' for small, big in pairs)
    text = f"""<!DOCTYPE w [<!ENTITY a "aaaaaaaaaa">{entities}]>
        <w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">
        <w:body><w:p><w:r><w:t>&i;</w:t></w:r></w:p></w:body></w:document>"""
    data = zip_bytes([Member("word/document.xml", text.encode())])
    try:
        described = describe("a.docx", data)
    except PreparerError:
        return
    assert len(str(described)) < 1000


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.txt", b"\xff\xfe\x00", "a.txt is no UTF-8 text: invalid start byte at byte 0"),
        ("a.json", b'{"a": ', "a.json is no JSON: EOF"),
        ("a.json", b"NaN", "a.json is no JSON"),
        ("a.csv", b'a,b\n"x', "a.csv is no CSV: unexpected end of data"),
        ("a.csv", b"", "a.csv is empty"),
        ("a.ini", b"key = value", "a.ini is no INI file"),
        ("a.png", b"\x89PNG\r\n\x1a\n", "a.png is no PNG"),
        ("a.jpg", b"\xff\xd8\xff\xe0\x00", "a.jpg is no PNG, JPEG"),
        ("a.docx", b"PK\x05\x06" + bytes(18), "a.docx is no office document: word/document.xml is not in it"),
        ("a.docx", b"hello", "a.docx is no readable .zip archive"),
        ("a.zip", b"", "a.zip is no readable .zip archive"),
        ("a.tar", b"", "a.tar is no readable tar archive: it is cut off"),
        ("a.tgz", b"hello", "a.tgz is no readable .tgz archive"),
    ],
)
def test_a_file_that_is_not_what_its_name_says_is_named(name: str, data: bytes, said: str) -> None:
    with pytest.raises(PreparerError) as caught:
        describe(name, data)
    assert caught.value.message.startswith(said)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("A.CSV", "csv"),
        ("x.tar.gz", "archive"),
        ("x.gz", "text"),
        ("README", "text"),
        (".bashrc", "text"),
        ("a.JPEG", "image"),
    ],
)
def test_the_suffix_says_the_kind(name: str, kind: str) -> None:
    assert kind_of(name) == kind


@pytest.mark.parametrize("form", ["PNG", "JPEG", "GIF", "BMP"])
def test_sizes_of_pictures_are_those_that_pillow_wrote(form: str) -> None:
    from PIL import Image

    for size in ((1, 1), (31, 17), (300, 200)):
        target = io.BytesIO()
        Image.new("RGB", size).save(target, form, **({"progressive": True} if form == "JPEG" else {}))
        assert image_size("x", target.getvalue()) == (*size, form.lower())


def test_csv_dialects() -> None:
    assert read_csv("a.csv", b"\xef\xbb\xbfa;b\r\n1,5;2\r\n") == ([["a", "b"], ["1,5", "2"]], ";")
    assert read_csv("a.tsv", b"a,b\tc\n") == ([["a,b", "c"]], "\t")
    assert read_csv("a.csv", b'"a, x",b\n') == ([["a, x", "b"]], ",")


def test_gzip_written_by_hand_is_gzip() -> None:
    data = b"abc" * 10_000
    assert gzip.decompress(gzip_bytes(data)) == data
    assert zlib.decompress(gzip_bytes(data), 31) == data
