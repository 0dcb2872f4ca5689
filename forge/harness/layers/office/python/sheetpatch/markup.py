"""XML that can be edited in one place and written back with every other byte as it was.

An ordinary parser forgets prefixes, white space, the order of attributes and unused namespace declarations, and office
programs mind some of these. Here a document is a tree whose nodes keep their own source text; only a node that is
changed is written anew. Names are the raw ones, prefix included. What it does NOT do: validate, or read a DOCTYPE.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.parsers import expat

_REFERENCE = re.compile(r"&(?:#x([0-9A-Fa-f]+)|#([0-9]+)|(lt|gt|amp|quot|apos));")
_ENTITIES = {"lt": "<", "gt": ">", "amp": "&", "quot": '"', "apos": "'"}


class MarkupError(ValueError):
    """The text is no XML that can be edited here."""


class Node:
    """An element. `content` holds raw text (as in the file, entities and all) and child nodes, in order."""

    __slots__ = ("_attributes", "_close", "_open", "content", "name", "parent")

    def __init__(self, name: str, attributes: dict[str, str] | None = None, content: list[Node | str] | None = None):
        self.name = name
        self.content: list[Node | str] = content or []
        self.parent: Node | None = None
        self._attributes = attributes or {}
        self._open: str | None = None
        self._close: str | None = None
        for child in self.content:
            if isinstance(child, Node):
                child.parent = self

    @property
    def local(self) -> str:
        """The name without its prefix."""
        return self.name.rpartition(":")[2]

    @property
    def prefix(self) -> str:
        """The prefix with its colon, or nothing: put it before the names of new children."""
        head, colon, _ = self.name.rpartition(":")
        return head + colon

    def get(self, name: str, default: str | None = None) -> str | None:
        """The value of an attribute."""
        return self._attributes.get(name, default)

    def set(self, name: str, value: str | None) -> None:
        """Set an attribute; None removes it."""
        if self._attributes.get(name) == value:
            return
        if value is None:
            del self._attributes[name]
        else:
            self._attributes[name] = value
        self._open = None

    @property
    def attributes(self) -> dict[str, str]:
        """A copy of all attributes."""
        return dict(self._attributes)

    @property
    def children(self) -> list[Node]:
        """The child elements."""
        return [child for child in self.content if isinstance(child, Node)]

    def find(self, *locals_: str) -> Node | None:
        """The first child with one of these local names."""
        return next((child for child in self.content if isinstance(child, Node) and child.local in locals_), None)

    def all(self, local: str) -> list[Node]:
        """The children with this local name."""
        return [child for child in self.content if isinstance(child, Node) and child.local == local]

    def walk(self) -> Iterator[Node]:
        """This node and all below it, in document order."""
        yield self
        for child in self.content:
            if isinstance(child, Node):
                yield from child.walk()

    @property
    def text(self) -> str:
        """All text below, entities resolved."""
        return "".join(child.text if isinstance(child, Node) else unescape(child) for child in self.content)

    def insert(self, index: int, child: Node) -> Node:
        """Put a child before the entry `index` of `content`."""
        child.parent = self
        self.content.insert(index, child)
        self._unclose()
        return child

    def append(self, child: Node) -> Node:
        """Put a child at the end."""
        return self.insert(len(self.content), child)

    def remove(self, child: Node) -> None:
        """Take a child out."""
        self.content.remove(child)
        child.parent = None

    def replace(self, content: list[Node | str]) -> None:
        """Replace all that is inside; texts must be escaped already."""
        self.content = content
        for child in content:
            if isinstance(child, Node):
                child.parent = self
        self._unclose()

    def copy(self) -> Node:
        """A deep copy without a parent."""
        twin = Node(
            self.name,
            dict(self._attributes),
            [child.copy() if isinstance(child, Node) else child for child in self.content],
        )
        twin._open, twin._close = self._open, self._close
        return twin

    def source(self) -> str:
        """The element as it stands in the file."""
        pieces: list[str] = []
        self._write(pieces)
        return "".join(pieces)

    def _unclose(self) -> None:
        # An element written as <x/> must be written anew when it gets a content.
        if self._close == "" and self.content:
            self._open = self._close = None

    def _write(self, pieces: list[str]) -> None:
        empty = not self.content and self._close in (None, "")
        if self._open is None:
            written = "".join(f' {name}="{escape(value, quotes=True)}"' for name, value in self._attributes.items())
            pieces.append(f"<{self.name}{written}{'/>' if empty else '>'}")
        else:
            pieces.append(self._open)
        if empty and (self._open is None or self._open.endswith("/>")):
            return
        for child in self.content:
            if isinstance(child, Node):
                child._write(pieces)
            else:
                pieces.append(child)
        pieces.append(self._close or f"</{self.name}>")


class Document:
    """A whole XML file: what stands before the root, the root, and what stands after it."""

    def __init__(self, data: bytes):
        """Parse. Raises MarkupError for broken XML, for another encoding than UTF-8, and for a DOCTYPE."""
        self._mark = b"\xef\xbb\xbf" if data.startswith(b"\xef\xbb\xbf") else b""
        data = data[len(self._mark) :]
        try:
            data.decode("utf-8")
            self.head, self.root, self.tail = _parse(data)
        except UnicodeDecodeError as error:
            raise MarkupError(f"the XML is not UTF-8: {error}") from None
        except expat.ExpatError as error:
            raise MarkupError(f"broken XML: {error}") from None

    def render(self) -> bytes:
        """The file's bytes."""
        return self._mark + (self.head + self.root.source() + self.tail).encode()


def escape(text: str, *, quotes: bool = False) -> str:
    """Text as XML writes it."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return text.replace('"', "&quot;").replace("\n", "&#10;").replace("\t", "&#9;") if quotes else text


def unescape(text: str) -> str:
    """XML text as it is meant. CDATA sections and comments give their content and nothing."""
    if "<" in text:
        text = re.sub(r"<!--.*?-->|<\?.*?\?>", "", text, flags=re.DOTALL)
        text = re.sub(r"<!\[CDATA\[(.*?)\]\]>", lambda found: escape(found[1]), text, flags=re.DOTALL)
    return _REFERENCE.sub(_resolve, text) if "&" in text else text


def element(name: str, attributes: dict[str, str] | None = None, text: str | None = None) -> Node:
    """A new element with attributes and a text."""
    return Node(name, attributes, None if text is None else [escape(text)])


def _resolve(found: re.Match[str]) -> str:
    code, number, name = found.groups()
    return chr(int(code, 16)) if code else chr(int(number)) if number else _ENTITIES[name]


def _parse(data: bytes) -> tuple[str, Node, str]:
    parser = expat.ParserCreate()
    parser.ordered_attributes = True
    top: list[Node] = []
    stack: list[Node] = []
    state = [0, 0]  # how far the source has been handed out, where the root begins

    def text_until(offset: int) -> str:
        piece = data[state[0] : offset].decode()
        state[0] = max(state[0], offset)
        return piece

    def start(name: str, pairs: list[str]) -> None:
        offset = parser.CurrentByteIndex
        before = text_until(offset)
        end = _tag_end(data, offset)
        node = Node(name, dict(zip(pairs[::2], pairs[1::2], strict=True)))
        node._open = data[offset:end].decode()
        node._close = "" if node._open.endswith("/>") else None
        state[0] = end
        if stack:
            if before:
                stack[-1].content.append(before)
            node.parent = stack[-1]
            stack[-1].content.append(node)
        else:
            top.append(node)
            state[1] = offset
        stack.append(node)

    def finish(name: str) -> None:
        node = stack.pop()
        if node._close == "":
            return
        offset = parser.CurrentByteIndex
        before = text_until(offset)
        if before:
            node.content.append(before)
        end = data.index(b">", offset) + 1
        node._close = data[offset:end].decode()
        state[0] = end

    def refuse(*_: object) -> None:
        raise MarkupError("the XML has a DOCTYPE; office files have none")

    parser.StartElementHandler = start
    parser.EndElementHandler = finish
    parser.StartDoctypeDeclHandler = refuse
    parser.Parse(data, True)
    root = top[0]
    return data[: state[1]].decode(), root, data[state[0] :].decode()


def _tag_end(data: bytes, offset: int) -> int:
    """Where the tag that starts at `offset` ends: behind the first `>` outside quotes."""
    position = offset
    while True:
        closing = data.index(b">", position)
        quotes = data[offset:closing]
        # `>` may stand inside an attribute's value: count the quotes that are open there.
        opened = b""
        for byte in quotes:
            mark = bytes((byte,))
            if opened:
                opened = b"" if mark == opened else opened
            elif mark in (b'"', b"'"):
                opened = mark
        if not opened:
            return closing + 1
        position = closing + 1
