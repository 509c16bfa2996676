"""What a repository has committed to its `.swarm/`, looked at before anything of it holds on the server.

A link would lead to files of the server or of another goal, whoever committed it. And settings say which programs
start, what the sandbox opens, where keys go, what is approved by itself: of a repository that was cloned from an
address whoever can push there would say so. Where that is meant, `[server] trusted_sources` names the address.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from swarmgate.config import is_program
from swarmgate.errors import ConfigError, WorkspaceError
from swarmgate.workspace.files import regular

_FREE = frozenset({
    "project", "loop", "ask", "gates", "git", "scope", "authority", "breakers", "review", "phase", "tests", "evidence",
    "roles", "agents", "models", "council",
})  # fmt: skip
"""Tables of settings that everybody may commit; tests and gates run in the sandbox, like all that agents run."""
_BOUND: Mapping[str, frozenset[str]] = {
    "roles": frozenset({"env", "readable", "writable", "network"}),
    "council": frozenset({"store", "store_password_env"}),
}
"""Keys in them that open something all the same, at whatever depth."""


def require_no_links(folder: Path) -> None:
    """Insists that a `.swarm/` is a folder of files.

    Raises:
        WorkspaceError: it is a link, or holds one.
    """
    link = next((each for each in (folder, *folder.rglob("*")) if each.is_symlink()), None)
    if link is not None:
        raise WorkspaceError(
            f"{link.relative_to(folder.parent)} is a symbolic link: the server follows none that a repository brings.",
            hint="Commit the file itself.",
        )


def require_harmless(config: Path) -> None:
    """Insists that committed settings open nothing; where there are none, they do not.

    Raises:
        ConfigError: they do, or cannot be read.
    """
    try:
        settings = tomllib.loads(regular.read(config, follow=False).decode("utf-8-sig"))
    except FileNotFoundError:
        return
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"The settings that the repository has committed cannot be read: {error}") from error
    if found := next(_opening(settings), ""):
        raise ConfigError(
            f"The settings that the repository has committed hold {found}: from an address, the server takes none that "
            "start programs, open the sandbox, name providers or keys, or approve.",
            hint="Put it into the settings of the server's user, or trust the address: [server] trusted_sources",
        )


def _opening(settings: Mapping[str, Any]) -> Iterator[str]:
    """What of the settings opens something, in words."""
    for table, value in settings.items():
        if table not in _FREE:
            yield f"[{table}]"
        yield from _in_table(value, table, _BOUND.get(table, frozenset()))


def _in_table(value: Any, place: str, bound: frozenset[str]) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, each in value.items():
            if key in bound:
                yield f"[{place}] {key}"
            yield from _in_table(each, f"{place}.{key}", bound)
    elif isinstance(value, list):
        for each in value:
            yield from _in_table(each, place, bound)
    elif isinstance(value, str):
        said = (part.strip() for part in (value, value.partition("=")[2]))
        if any(map(is_program, said)):
            yield f"a program, in {place}"
