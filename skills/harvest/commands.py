"""Command-line tools and their options, as `--help` lists them; asked in a box."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

from skills.harvest.boxed import Boxed
from skills.harvest.candidate import Candidate, Effect

TOOLS: dict[str, tuple[str, ...]] = {
    "files": (
        "ls", "cp", "mv", "rm", "mkdir", "rmdir", "ln", "touch", "chmod", "chown", "find", "du", "df", "stat", "truncate",
        "split", "csplit", "install", "mktemp", "shred", "dd", "sync", "file", "basename", "dirname", "realpath", "readlink",
    ),
    "text": (
        "cat", "head", "tail", "sort", "uniq", "cut", "paste", "join", "comm", "tr", "wc", "nl", "fold", "fmt", "pr", "expand",
        "unexpand", "tac", "shuf", "grep", "sed", "awk", "diff", "diff3", "sdiff", "cmp", "patch", "column", "rev", "iconv",
        "numfmt", "seq", "printf", "od", "hexdump", "strings", "tsort", "ptx", "look", "jq", "xargs", "tee",
    ),
    "archive": ("tar", "gzip", "bzip2", "xz", "zip", "unzip", "zipinfo", "cpio", "ar", "base64", "base32", "zcat"),
    "checksum": ("md5sum", "sha1sum", "sha224sum", "sha256sum", "sha384sum", "sha512sum", "b2sum", "cksum", "sum"),
    "date": ("date", "cal", "sleep", "timeout", "touch"),
    "system": ("env", "id", "who", "uname", "nproc", "uptime", "ps", "kill", "nice", "nohup", "lscpu", "free", "getconf", "locale"),
    "data": ("sqlite3", "xmllint", "python3", "perl", "curl", "gpg", "openssl"),
    "media": ("convert", "identify", "mogrify", "montage", "composite", "ffmpeg", "ffprobe"),
    "office": ("soffice", "pandoc"),
    "make": ("make", "gcc", "ld", "objdump", "nm", "size", "strip"),
}  # fmt: skip
"""Area to its tools. A tool that is not installed gives nothing."""

_OPTION = re.compile(
    r"^\s{0,12}(?:(-\w)(?:[ =,]|$)[^-]*?)?(--[A-Za-z][\w-]*|(?<!\S)-[a-z][a-z-]{2,})"
    r"(?:[=\[ ]([A-Z<\[][\w<>|,.\]-]*))?"
)
_SHORT = re.compile(r"^\s{1,8}(-[A-Za-z0-9])(?:\s+|=)(\S.*)$")
_NOT = {
    "--help", "--version", "-help", "-version", "--usage", "--verbose", "--quiet", "--color", "--colour", "--debug",
}  # fmt: skip
_ANSWERS = {
    "ls", "du", "df", "stat", "file", "wc", "id", "who", "uname", "nproc", "uptime", "ps", "lscpu", "free", "cal", "identify",
    "ffprobe", "zipinfo",
}  # fmt: skip
_NONE = {
    "curl", "gpg", "openssl", "gcc", "ld", "objdump", "nm", "strip", "perl", "python3", "nice", "nohup", "kill", "sync", "df",
    "free", "uptime", "who", "ps", "lscpu", "git clone", "git fetch", "git pull", "git push", "git gc", "git repack",
}  # fmt: skip
"""Tools whose options need a network, a compiler's eye or a running system to be seen at work."""


def harvest(boxed: Boxed) -> Iterator[Candidate]:
    """Every option of every tool, and git's subcommands with theirs."""
    with ThreadPoolExecutor(2) as pool:
        wanted = [(area, tool, _help_of(tool)) for area, tools in TOOLS.items() for tool in tools]
        wanted += [("git", f"git {name}", ["git", name, "-h"]) for name in GIT]
        outputs = pool.map(
            lambda w: boxed(["sh", "-c", f"{' '.join(w[2])} 2>&1 </dev/null | head -c 400000"], 20), wanted
        )
        for (area, tool, _), output in zip(wanted, outputs, strict=True):
            yield from _options(area, tool, output)


GIT = (
    "add", "am", "apply", "archive", "bisect", "blame", "branch", "bundle", "checkout", "cherry-pick", "clean", "clone",
    "commit", "config", "describe", "diff", "fetch", "format-patch", "gc", "grep", "init", "log", "merge", "mv", "notes",
    "pull", "push", "range-diff", "rebase", "reflog", "remote", "repack", "reset", "restore", "revert", "rm", "shortlog",
    "show", "sparse-checkout", "stash", "status", "submodule", "switch", "tag", "worktree",
)  # fmt: skip
"""git's porcelain commands."""


def _help_of(tool: str) -> list[str]:
    special = {
        "ffmpeg": ["ffmpeg", "-hide_banner", "-h", "long"], "gpg": ["gpg", "--dump-options"], "zip": ["zip", "-h2"],
        "unzip": ["unzip", "-hh"], "sqlite3": ["sqlite3", "-help"], "gcc": ["gcc", "--help=common"],
    }  # fmt: skip
    return special.get(tool, [tool, "--help"])


def _options(area: str, tool: str, output: str) -> Iterator[Candidate]:
    seen: set[str] = set()
    effect: Effect = "answer" if tool in _ANSWERS else "output"
    effect = "none" if tool in _NONE else effect
    for line in output.splitlines():
        match = _OPTION.match(line)
        found = match[2] if match and match[2] else None
        about = line[match.end() :].strip() if match and found else ""
        if found is None and (short := _SHORT.match(line)):
            found, about = short[1], short[2]
        if found is None or found in seen or found in _NOT or found.startswith("--no-"):
            continue
        seen.add(found)
        words = f"{tool} {found.lstrip('-')}"
        about = re.sub(r"\s+", " ", about)[:200]
        yield Candidate("terminal", area, "use", words, f"{tool} {found}", f"{tool} {found}", effect, about)
