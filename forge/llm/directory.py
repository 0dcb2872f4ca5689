"""The directory: which endpoints there are, and which of them answers for which role.

It is read from a YAML file of `endpoints` and `roles` (see endpoints.yaml beside this file), or it is the one endpoint that
FORGE_LLM_BASE_URL and FORGE_LLM_MODEL name. FORGE_LLM_ROLES chooses over both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

import yaml
from pydantic import ValidationError

from forge.llm.endpoint import Endpoint
from forge.records import InputError, Settings

Role = Literal["author", "teacher", "judge", "writer"]
"""Who asks: authors write workflows, teachers play tasks, judges and blind readers judge, writers fill banks with values."""

ROLES: tuple[Role, ...] = get_args(Role)
SERVERS = Path(__file__).parent / "endpoints.yaml"
USUAL_FILE = Path("endpoints.yaml")


@dataclass(frozen=True)
class Directory:
    """Endpoints by name, and the name that answers for each role. Without endpoints there is nobody to ask."""

    endpoints: dict[str, Endpoint] = field(default_factory=dict)
    roles: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.endpoints)

    @classmethod
    def from_settings(cls, settings: Settings) -> Directory:
        """What the settings name; empty when they name nothing.

        Raises:
            InputError: the file is broken (file and line), or a role has an unknown endpoint.
        """
        path = Path(settings.llm_endpoints) if settings.llm_endpoints else USUAL_FILE
        found = cls()
        if settings.llm_endpoints or path.is_file():
            found = cls.load(path)
        one = Endpoint.from_settings(settings)
        if one is not None:
            found = cls({**found.endpoints, one.name: one}, {**dict.fromkeys(ROLES, one.name), **found.roles})
        return found.choosing(settings.llm_roles)

    @classmethod
    def load(cls, path: Path) -> Directory:
        """Read a file. Raises InputError with file and line."""
        try:
            text = path.read_text("utf-8")
            root, lines = yaml.safe_load(text), _lines(text)
        except OSError as error:
            raise InputError(f"endpoints cannot be read: {error.strerror}", file=path) from None
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            raise InputError(f"no YAML: {error}", file=path, line=mark.line + 1 if mark else None) from None
        if not isinstance(root, dict) or not isinstance(root.get("endpoints"), dict):
            raise InputError("it has no `endpoints`", file=path, line=1, mend="see docs/llm.md")
        for key in root:
            if key not in ("endpoints", "roles"):
                raise InputError(
                    f"unknown key {key!r}", file=path, line=lines.get((key,)), mend="it has endpoints and roles"
                )
        endpoints = {str(name): _endpoint(str(name), spec, path, lines) for name, spec in root["endpoints"].items()}
        first = next(iter(endpoints), "")
        roles: dict[str, str] = dict.fromkeys(ROLES, first)
        roles |= {str(role): str(name) for role, name in (root.get("roles") or {}).items()}
        for role, name in roles.items():
            _check(role, name, endpoints, path, lines.get(("roles", role)))
        return cls(endpoints, roles)

    def choosing(self, choice: str) -> Directory:
        """The directory with roles as `author=NAME,judge=NAME` says; a NAME alone answers for all."""
        roles = dict(self.roles)
        for part in choice.replace(",", " ").split():
            role, _, name = part.rpartition("=")
            for each in [role] if role else ROLES:
                _check(each, name, self.endpoints, None, None)
                roles[each] = name
        return Directory(self.endpoints, roles)

    def endpoint(self, role: Role) -> Endpoint | None:
        """Who answers for a role; None: nobody."""
        return self.endpoints.get(self.roles.get(role, ""))

    def require(self, role: Role) -> Endpoint:
        """As `endpoint`. Raises InputError when there is nobody."""
        found = self.endpoint(role)
        if found is None:
            raise InputError(
                f"no model endpoint answers for the role {role}",
                mend="set FORGE_LLM_BASE_URL and FORGE_LLM_MODEL (and FORGE_LLM_API_KEY where the server wants one), "
                "or write endpoints.yaml",
            )
        return found


def _endpoint(name: str, spec: Any, path: Path, lines: Mapping[tuple[str, ...], int]) -> Endpoint:
    line = lines.get(("endpoints", name))
    if not isinstance(spec, dict):
        raise InputError(f"endpoint {name} is no mapping", file=path, line=line)
    fields = dict(spec)
    like = fields.pop("like", None)
    if like is not None and like not in _servers():
        raise InputError(
            f"endpoint {name}: there is no server {like!r}",
            file=path, line=lines.get(("endpoints", name, "like"), line), mend=f"known are {', '.join(_servers())}",
        )  # fmt: skip
    try:
        return Endpoint.model_validate({**_servers().get(str(like), {}), **fields, "name": name})
    except ValidationError as error:
        fault = error.errors()[0]
        key = str(fault["loc"][0]) if fault["loc"] else ""
        raise InputError(
            f"endpoint {name}: {'.'.join(map(str, fault['loc']))}: {fault['msg']}",
            file=path, line=lines.get(("endpoints", name, key), line),
            mend=f"an endpoint has {', '.join(Endpoint.model_fields)}" if fault["type"] == "extra_forbidden" else None,
        ) from None  # fmt: skip


def _check(role: str, name: str, endpoints: Mapping[str, Endpoint], path: Path | None, line: int | None) -> None:
    if role not in ROLES:
        raise InputError(f"there is no role {role!r}", file=path, line=line, mend=f"known are {', '.join(ROLES)}")
    if name not in endpoints:
        known = ", ".join(endpoints) or "none: set FORGE_LLM_BASE_URL and FORGE_LLM_MODEL, or write endpoints.yaml"
        raise InputError(f"role {role}: there is no endpoint {name!r}", file=path, line=line, mend=f"known are {known}")


@cache
def _servers() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = yaml.safe_load(SERVERS.read_text("utf-8"))["servers"]
    return found


def _lines(text: str) -> dict[tuple[str, ...], int]:
    """The line of every key of the upper three levels, by its path."""
    found: dict[tuple[str, ...], int] = {}

    def walk(node: Any, path: tuple[str, ...]) -> None:
        if isinstance(node, yaml.MappingNode) and len(path) < 3:
            for key, value in node.value:
                found[*path, str(key.value)] = key.start_mark.line + 1
                walk(value, (*path, str(key.value)))

    walk(yaml.compose(text, Loader=yaml.SafeLoader), ())
    return found
