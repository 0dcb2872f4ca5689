"""The preparer `files.tree`: a folder with everything that is in it."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from forge.records import JSON, PreparerError
from preparers.base import Context, Prepared, PreparedFile, Preparer, preparer
from preparers.files.params import KINDS, AnyItem, FolderItem, TreeParams, suffix_of
from preparers.files.reading import describe
from preparers.files.writing import epoch_of, file_bytes, file_facts

TOTAL_LIMIT = 64 << 20
"""Bytes of all files of one tree together."""


@preparer
class FilesTree(Preparer[TreeParams]):
    """Folder trees of text, CSV, JSON, INI, pictures, documents, presentations and archives.

    What a file is follows from its suffix, and its item must be of that `kind`; an INI text with remarks or odd spacing has to be
    called .conf, which is text. JSON is written as `json.dumps(value, indent=indent)` writes it, INI as `[section]` and `key =
    value` with a blank line between sections. A drawn tree (the draw `tree`) goes in by `with`.

    Facts: `files`, sorted by path (absolute ones, `~/...`), each with what its kind has, and its `suffix` in lower case (`.csv` of
    A.CSV); `folders` (all below the root); `empty_folders`; `suffixes` (the same to number of files); `count` of files.
    """

    name = "files.tree"
    params = TreeParams
    example = """\
root: ~/Documents/Tea
items:
  - {kind: text, path: notes/list.txt, text: "Assam\\nCeylon\\n", modified: 2026-02-03T09:30:00}
  - {kind: csv, path: prices.csv, header: [Tea, Price], rows: [[Assam, 4.5]]}
  - {kind: ini, path: shop.ini, sections: {shop: {open: yes}}}
  - {kind: archive, path: old.zip, members: [{kind: text, path: old.txt, text: "Oolong\\n"}]}
  - {kind: folder, path: photos}
"""
    example_facts: ClassVar[dict[str, JSON]] = {
        "count": 4,
        "folders": ["~/Documents/Tea/notes", "~/Documents/Tea/photos"],
        "empty_folders": ["~/Documents/Tea/photos"],
        "files[0].path": "~/Documents/Tea/notes/list.txt",
        "files[0].lines": 2,
        "suffixes": {".csv": 1, ".ini": 1, ".txt": 1, ".zip": 1},
    }

    def values(self) -> str:
        suffixes: dict[str, list[str]] = {}
        for suffix, kind in KINDS.items():
            suffixes.setdefault(kind, []).append(suffix)
        told = "; ".join(f"{kind}: {' '.join(found)}" for kind, found in suffixes.items())
        return f"Kinds by suffix: {told}; text: every other one. Other kinds of files cannot be made here."

    def prepare(self, params: TreeParams, context: Context) -> Prepared:
        files = [PreparedFile(params.root, mode=0o755, folder=True)]
        facts = []
        total = 0
        for item in params.items:
            path = f"{params.root}/{item.path}"
            stamp = epoch_of(item, context.guest) if item.modified else None
            if isinstance(item, FolderItem):
                files.append(PreparedFile(path, mode=item.mode, folder=True, mtime=stamp))
                continue
            data = self._bytes(item, path, context)
            total += len(data)
            if total > TOTAL_LIMIT:
                raise PreparerError(f"{params.root} holds more than {TOTAL_LIMIT >> 20} MiB with {path}")
            files.append(PreparedFile(path, data, mode=item.mode, mtime=stamp))
            facts.append(_file_fact(path, item.mode, len(data), file_facts(item)))
        return Prepared(tuple(files), _tree_facts(params.root, facts, _folders(params)))

    def facts(self, params: TreeParams, context: Context) -> dict[str, JSON]:
        facts = []
        for item in params.items:
            if not isinstance(item, FolderItem):
                path = f"{params.root}/{item.path}"
                size = len(self._bytes(item, path, context))
                facts.append(_file_fact(path, item.mode, size, file_facts(item)))
        return _tree_facts(params.root, facts, _folders(params))

    def inspect(self, home: Path, params: TreeParams) -> dict[str, JSON]:
        top = home / params.root[2:]
        if not top.is_dir():
            raise PreparerError(f"{params.root} does not exist or is no folder")
        facts, folders = [], []
        for path in sorted(top.rglob("*")):
            guest_path = f"~/{path.relative_to(home)}"
            if path.is_symlink():
                raise PreparerError(f"{guest_path} is a symbolic link; a prepared tree has none")
            if path.is_dir():
                folders.append(guest_path)
            else:
                data = path.read_bytes()
                facts.append(_file_fact(guest_path, path.stat().st_mode & 0o777, len(data), describe(guest_path, data)))
        return _tree_facts(params.root, facts, folders)

    def _bytes(self, item: AnyItem, path: str, context: Context) -> bytes:
        try:
            return file_bytes(item, context.guest)
        except (ValueError, OSError, OverflowError) as error:
            raise PreparerError(f"{path} cannot be written: {error}") from error


def _folders(params: TreeParams) -> list[str]:
    found = set()
    for item in params.items:
        path = item.path if isinstance(item, FolderItem) else item.path.rpartition("/")[0]
        while path:
            found.add(f"{params.root}/{path}")
            path = path.rpartition("/")[0]
    return sorted(found)


def _file_fact(path: str, mode: int, size: int, content: dict[str, JSON]) -> dict[str, JSON]:
    folder, _, name = path.rpartition("/")
    suffix = suffix_of(name)
    stem = name[: len(name) - len(suffix)]
    place: dict[str, JSON] = {"path": path, "name": name, "stem": stem, "suffix": suffix, "folder": folder}
    return {**place, "mode": f"{mode:03o}", **content, "size": size}


def _tree_facts(root: str, files: list[dict[str, JSON]], folders: list[str]) -> dict[str, JSON]:
    files = sorted(files, key=lambda fact: str(fact["path"]))
    used = {str(fact["path"]) for fact in files} | set(folders)
    suffixes = sorted({str(fact["suffix"]) for fact in files})
    return {
        "root": root,
        "files": files,
        "folders": sorted(folders),
        "empty_folders": sorted(f for f in folders if not any(path.startswith(f + "/") for path in used)),
        "suffixes": {suffix: sum(fact["suffix"] == suffix for fact in files) for suffix in suffixes},
        "count": len(files),
    }
