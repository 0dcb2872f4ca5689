"""The office: what LibreOffice computes, with the right types; bad documents and crashes told apart."""

from __future__ import annotations

import errno
import io
import multiprocessing
import os
import signal
import time
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import openpyxl
import pytest

from forge.desktop.office import Office, OfficeClient
from forge.records import DesktopError, PreparerError
from tests.forge.desktop.conftest import processes

pytestmark = [pytest.mark.desktop, pytest.mark.xdist_group("office")]


@pytest.fixture(scope="module")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with Office(root=tmp_path_factory.mktemp("root")) as office:
        yield office


@pytest.fixture
def client(office: Office) -> OfficeClient:
    return OfficeClient(office.address)


def book(**cells: object) -> bytes:
    workbook = openpyxl.Workbook()
    sheet = workbook.active
    sheet.title = "Data"
    for ref, value in cells.items():
        sheet[ref] = value
    buffer = io.BytesIO()
    workbook.save(buffer)
    return buffer.getvalue()


def test_values_keep_their_types(client: OfficeClient) -> None:
    data = book(
        A1="text", A2=2, A3=True, A4=0.1, A5="007", A6=1, A7=0,
        B1="=A2+1", B2="=A2>1", B3="=1/0", B4='=""', B5="=NA()", B6="=nonsense()", B7='="a"&1', B8="=A4*3", B9="=NOT(A3)",
    )  # fmt: skip
    values = client.values(data, ".xlsx")["Data"]
    assert values == {
        "A1": "text", "A2": 2.0, "A3": True, "A4": 0.1, "A5": "007", "A6": 1.0, "A7": 0.0,
        "B1": 3.0, "B2": True, "B3": {"error": "#DIV/0!"}, "B4": "", "B5": {"error": "#N/A"},
        "B6": {"error": "#NAME?"}, "B7": "a1", "B8": 0.1 * 3, "B9": False,
    }  # fmt: skip
    kinds = {ref: type(value) for ref, value in values.items()}
    assert (kinds["A2"], kinds["A3"], kinds["A6"], kinds["B9"]) == (float, bool, float, bool)


def test_sheets_keep_their_order_and_empty_ones_are_there(client: OfficeClient) -> None:
    workbook = openpyxl.Workbook()
    workbook.active.title = "Zebra"
    workbook.create_sheet("Apple")["ZZ1000"] = 5
    workbook["Apple"]["A1"] = "=ZZ1000*2"
    buffer = io.BytesIO()
    workbook.save(buffer)
    values = client.values(buffer.getvalue(), ".xlsx")
    assert list(values.items()) == [("Zebra", {}), ("Apple", {"ZZ1000": 5.0, "A1": 10.0})]


def test_recalculating_fills_in_what_a_library_left_out(client: OfficeClient) -> None:
    data = book(A1=3, A2="=A1*2", A3='=IF(A2>5,"big","small")')
    assert openpyxl.load_workbook(io.BytesIO(data), data_only=True)["Data"]["A2"].value is None
    again = openpyxl.load_workbook(io.BytesIO(client.recalculate(data, ".xlsx")), data_only=True)["Data"]
    assert (again["A2"].value, again["A3"].value) == (6, "big")
    formulas = openpyxl.load_workbook(io.BytesIO(client.recalculate(data, ".xlsx")))["Data"]
    assert formulas["A2"].value == "=A1*2"


def test_a_stale_value_is_not_believed(client: OfficeClient) -> None:
    data = client.recalculate(book(A1=3, A2="=A1*2"), ".xlsx")
    stale = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(stale, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name.endswith("sheet1.xml"):
                assert b"<v>6</v>" in content
                content = content.replace(b"<v>6</v>", b"<v>99</v>")
            target.writestr(name, content)
    assert client.values(stale.getvalue(), ".xlsx")["Data"]["A2"] == 6.0


def test_today_is_the_clients(office: Office) -> None:
    data = book(A1="=TODAY()", A2="=HOUR(NOW())", A3="=YEAR(A1)")
    first = OfficeClient(office.address).values(data, ".xlsx")["Data"]
    second = OfficeClient(office.address, clock="2031-07-01T23:15:00").values(data, ".xlsx")["Data"]
    assert (first["A1"], first["A2"], first["A3"]) == (46097.0, 9.0, 2026.0)  # 16 March 2026
    assert (second["A1"], second["A2"], second["A3"]) == (48030.0, 23.0, 2031.0)


def test_each_client_has_its_own_clock_where_workers_compute_side_by_side(tmp_path: Path) -> None:
    def years(year: int) -> list[object]:
        client = OfficeClient(office.address, clock=f"{year}-03-16T09:30:00")
        rows: dict[str, object] = {f"A{row}": f"=SUM(B1:B1)+{row}" for row in range(2, 300)}
        documents = (book(A1="=YEAR(TODAY())", B1=n, **rows) for n in range(8))
        return [client.values(document, ".xlsx")["Data"]["A1"] for document in documents]

    with Office(root=tmp_path, workers=2) as office, ThreadPoolExecutor(2) as pool:
        assert list(pool.map(years, [2026, 2031])) == [[2026.0] * 8, [2031.0] * 8]


def test_formats_convert(client: OfficeClient) -> None:
    data = book(A1="name", B1="n", A2="x,y", B2="=1/4")
    assert client.convert(data, ".xlsx", ".csv") == b'name,n\n"x,y",0.25\n'
    ods = client.convert(data, ".xlsx", ".ods")
    assert client.values(ods, ".ods")["Data"] == {"A1": "name", "B1": "n", "A2": "x,y", "B2": 0.25}
    assert client.convert(data, ".xlsx", ".pdf").startswith(b"%PDF-")
    assert client.values(b"a;b\n1,2.5\n", ".csv") == {"in": {"A1": "a;b", "A2": 1.0, "B2": 2.5}}


@pytest.mark.parametrize(
    ("data", "suffix"),
    [
        (b"garbage", ".xlsx"),
        (b"", ".ods"),
        (book(A1=1)[:3000], ".xlsx"),
        (book(A1=1), ".ods"),
    ],
)
def test_a_corrupt_document_is_the_documents_fault(client: OfficeClient, data: bytes, suffix: str) -> None:
    with pytest.raises(PreparerError, match=f"values of a {suffix} document of {len(data)} bytes"):
        client.values(data, suffix)
    assert client.values(book(A1=1), ".xlsx") == {"Data": {"A1": 1.0}}


def test_a_zip_with_damage_inside_is_the_documents_fault(client: OfficeClient) -> None:
    broken = io.BytesIO()
    with zipfile.ZipFile(broken, "w") as target:
        target.writestr("[Content_Types].xml", "<Types/>")
    with pytest.raises(PreparerError, match="LibreOffice"):
        client.values(broken.getvalue(), ".xlsx")


def test_a_zip_bomb_is_refused(client: OfficeClient) -> None:
    bomb = io.BytesIO()
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as target:
        with target.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as member:
            for _ in range(420):
                member.write(bytes(1 << 20))
    with pytest.raises(PreparerError, match="unpacks to 420 MiB"):
        client.values(bomb.getvalue(), ".xlsx")


def test_an_unknown_format_is_named(client: OfficeClient) -> None:
    with pytest.raises(PreparerError, match=r"\.docx"):
        client.convert(b"x", ".docx", ".pdf")


def test_many_ask_at_once(office: Office) -> None:
    def ask(n: int) -> float:
        values = OfficeClient(office.address).values(book(A1=n, A2="=A1*10"), ".xlsx")
        return float(values["Data"]["A2"])

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(ask, range(100, 108))) == [n * 10.0 for n in range(100, 108)]


def _ask_in_child(address: Path) -> float:
    return float(OfficeClient(address).values(book(A1=7, A2="=A1*3"), ".xlsx")["Data"]["A2"])


def test_other_processes_may_ask(office: Office) -> None:
    context = multiprocessing.get_context("forkserver")
    with context.Pool(2) as pool:
        assert pool.map(_ask_in_child, [office.address] * 3) == [21.0] * 3
        pool.close()
        pool.join()


def test_the_same_question_is_answered_from_memory(office: Office, client: OfficeClient) -> None:
    data = book(A1=41, A2="=A1+1")
    client.values(data, ".xlsx")
    asleep = OfficeClient(office.address.with_name("nobody"))
    assert asleep.values(data, ".xlsx")["Data"]["A2"] == 42.0


def test_results_can_be_kept_in_a_folder_and_failures_are_not(office: Office, tmp_path: Path) -> None:
    client = OfficeClient(office.address, cache=tmp_path / "cache")
    with pytest.raises(PreparerError):
        client.values(b"junk", ".xlsx")
    assert not (tmp_path / "cache").exists()
    client.values(book(A1="kept"), ".xlsx")
    (kept,) = (tmp_path / "cache").iterdir()
    assert b"kept" in kept.read_bytes()


def test_what_an_older_version_computed_is_not_used(
    client: OfficeClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client.cache = tmp_path
    data = book(A1="=1+1", A2="an older version's")
    monkeypatch.setattr("forge.desktop.office._VERSION", 1)
    client.values(data, ".xlsx")
    monkeypatch.undo()
    before = set(tmp_path.iterdir())
    client.values(data, ".xlsx")
    assert len(set(tmp_path.iterdir()) - before) == 1


def test_the_office_survives_a_crash_of_libreoffice(office: Office, client: OfficeClient) -> None:
    client.values(book(A1="before the crash"), ".xlsx")
    assert _kill_within(office, "soffice.bin")
    assert client.values(book(A1="after the crash"), ".xlsx") == {"Data": {"A1": "after the crash"}}


def test_the_office_survives_the_death_of_its_box(office: Office, client: OfficeClient) -> None:
    assert _kill_within(office, "office_server.py")
    assert client.values(book(A1="in a new box"), ".xlsx") == {"Data": {"A1": "in a new box"}}


def test_the_office_comes_back_once_a_full_disk_has_space_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start, full = Office._start, [OSError(errno.ENOSPC, "no space left")]

    def starts(office: Office) -> None:
        if full:
            raise full.pop()
        start(office)

    with Office(root=tmp_path) as office:
        monkeypatch.setattr(Office, "_start", starts)
        assert _kill_within(office, "office_server.py")
        assert OfficeClient(office.address).values(book(A1="space"), ".xlsx") == {"Data": {"A1": "space"}}
    assert not full


def test_a_document_that_takes_too_long_is_a_fault_of_the_desktop(office: Office) -> None:
    # forty million additions of a nested sum, far more than a tenth of a second
    slow = book(**{f"A{row}": f"=SUMPRODUCT(SIN(ROW($1:$200000))*COS(ROW($1:$200000)+{row}))" for row in range(1, 41)})
    with pytest.raises(DesktopError, match="took longer than"):
        OfficeClient(office.address, timeout=0.2).values(slow, ".xlsx")
    assert OfficeClient(office.address).values(book(A1="still here"), ".xlsx")["Data"]["A1"] == "still here"


def test_documents_cannot_reach_the_host(client: OfficeClient, tmp_path: Path) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("gold\n")
    data = book(A1=f"='file://{secret}'#$secret.A1", A2=f'=WEBSERVICE("file://{secret}")')
    values = client.values(data, ".xlsx")["Data"]
    assert all(isinstance(values[ref], dict) for ref in ("A1", "A2"))


def test_nothing_is_left_when_it_closes(tmp_path: Path) -> None:
    with Office(root=tmp_path) as office:
        name = office.address.parents[1].name
        OfficeClient(office.address).values(book(A1="closing"), ".xlsx")
        assert processes(name) == [] or processes("office_server")
        address = office.address
    assert os.listdir(tmp_path / "slots") == []
    with pytest.raises(DesktopError, match="does not answer"):
        OfficeClient(address).values(book(A1="too late"), ".xlsx")
    with pytest.raises(DesktopError, match="not open"):
        _ = office.address


def _kill_within(office: Office, program: str) -> bool:
    """Kill a program of this office's own box, never of another."""
    box = office.pid
    for name in os.listdir("/proc"):
        if name.isdigit() and _is_below(int(name), box):
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    line = file.read()
            except OSError:
                continue
            if program.encode() in line and b"bwrap" not in line:
                os.kill(int(name), signal.SIGKILL)
                time.sleep(0.05)
                return True
    return False


def _is_below(pid: int, ancestor: int) -> bool:
    while pid > 1:
        if pid == ancestor:
            return True
        try:
            with open(f"/proc/{pid}/stat") as file:
                pid = int(file.read().rpartition(")")[2].split()[1])
        except OSError:
            return False
    return False
