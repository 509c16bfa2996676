"""Simulates shell builtins: how `cd`, `export`, `set` and others change folder, variables, arguments and files."""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING

from swarmgate.workspace.command_policy import quoting
from swarmgate.workspace.command_policy.model import UNKNOWN, Feed
from swarmgate.workspace.command_policy.predicted_output import formatted

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from swarmgate.workspace.command_policy.model import Word
    from swarmgate.workspace.command_policy.state import State

_READ_VALUED = frozenset({"-p", "-t", "-n", "-N", "-d", "-u", "-i", "-a", "-C", "-c", "-O", "-s"})


def joined(cwd: str, path: str) -> str:
    """The absolute form of a path, without `.` and `..`; empty where it is not known."""
    if UNKNOWN in path:
        return ""
    if not path.startswith("/"):
        if not cwd:
            return ""
        path = f"{cwd}/{path}"
    return "/" + posixpath.normpath(path).lstrip("/")


def apply(name: str, words: Sequence[Word], state: State, feed: Feed) -> None:
    """Applies a builtin to the state."""
    texts = [word.text for word in words]
    match name:
        case "cd" | "pushd" | "chdir":
            _cd(texts, state)
        case "popd":
            state.cwd, state.before = state.before, state.cwd
        case "set" if "--" in texts or (texts and texts[0][:1] not in {"-", "+"}):
            state.arguments = tuple(texts[texts.index("--") + 1 :] if "--" in texts else texts)
        case "shift":
            state.arguments = state.arguments[1:]
        case "read" | "mapfile" | "readarray" | "getopts":
            _read(name, texts, state, feed)
        case "printf" if texts[:1] == ["-v"] and len(texts) > 2:  # noqa: PLR2004 - `-v`, the name, the format
            state.assign(texts[1], formatted(texts[2], texts[3:]))


def _cd(texts: Sequence[str], state: State) -> None:
    places = [text for text in texts if text not in {"-P", "-L", "-e", "-@", "--", "-n"}]
    target = places[0] if places else state.home
    there = state.before if target == "-" else joined(state.cwd, target)
    state.before, state.cwd = state.cwd, there


def _read(name: str, texts: Sequence[str], state: State, feed: Feed) -> None:
    names, skip = [], False
    for text in texts:
        if not skip and not text.startswith("-"):
            names.append(text)
        skip = text in _READ_VALUED and not (name == "read" and text == "-s")
        if skip and text == "-a":
            skip = False
    line = None if feed.text is None or name != "read" or (not feed.programs and not feed.text) else feed.text
    values = line.split(None, max(len(names) - 1, 0)) if line else []
    for index, each in enumerate(names):
        value = values[index].strip() if index < len(values) else UNKNOWN
        if feed.names and name == "read" and each is names[-1]:
            value = quoting.any_of([pattern.text for pattern in feed.names])
        if name in {"mapfile", "readarray"} or "-a" in texts:
            state.assign_all(each, [UNKNOWN])
        else:
            state.assign(each, value)


def record_files(name: str, words: Sequence[Word], state: State, out: Feed, *, network: Collection[str]) -> None:
    """Remembers which files hold what: a download, what `tee` got, a copy of one of them."""
    texts = [word.text for word in words]
    paths: list[str] = []
    if name in network:
        paths = [texts[index + 1] for index, text in enumerate(texts[:-1]) if _names_output(text)]
        if name in {"curl", "wget"} and not paths:
            paths = [text.rpartition("/")[2] for text in texts if "/" in text and not text.startswith("-")]
        out = Feed(None, (name,))
    elif name == "tee":
        paths = [text for text in texts if not text.startswith("-")]
    elif name in {"cp", "mv", "ln"}:
        plain = [text for text in texts if not text.startswith("-")]
        source = state.files.get(joined(state.cwd, plain[0])) if len(plain) == 2 else None  # noqa: PLR2004 - from, to
        if source is not None:
            paths, out = [plain[1]], source
    for path in paths:
        state.files[joined(state.cwd, path)] = out


def _names_output(text: str) -> bool:
    return text in {"-o", "-O", "--output", "--output-document"} or (
        text[:1] == "-" and text[1:2] != "-" and text.endswith(("o", "O"))
    )
