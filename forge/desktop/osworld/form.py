"""Forms as browsers and `requests` send them: urlencoded, and multipart with files."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from forge.records.errors import InputError


@dataclass
class Form:
    """Fields by name, and the contents of files by name."""

    fields: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)

    def text(self, name: str) -> str | None:
        """A field; None when it was not sent."""
        return self.fields.get(name)


def read_form(content_type: str, body: bytes) -> Form:
    """Read a request's body. Raises InputError when it is no form."""
    kind, _, rest = content_type.partition(";")
    if kind.strip().lower() == "application/x-www-form-urlencoded":
        return Form(dict(parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True)))
    boundary = re.search(r'boundary="?([^";]+)"?', rest)
    if kind.strip().lower() != "multipart/form-data" or boundary is None:
        raise InputError(f"{kind or 'a body without a type'} is no form")
    form = Form()
    marker = b"\r\n--" + boundary[1].encode()
    for part in (b"\r\n" + body).split(marker)[1:]:
        if part.startswith(b"--"):
            break
        head, blank, content = part.partition(b"\r\n\r\n")
        lines = head.decode("utf-8", "replace")
        name = re.search(r'content-disposition:[^\r\n]*[;\s]name="([^"]*)"', lines, re.I)
        if not blank or name is None:
            raise InputError("a part of the form has no name")
        if re.search(r'[;\s]filename\*?="?', lines, re.I):
            form.files[name[1]] = content
        else:
            form.fields[name[1]] = content.decode("utf-8", "replace")
    return form
