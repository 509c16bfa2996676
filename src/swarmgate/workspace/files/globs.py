"""Matches path patterns: `*` within a folder, `**` across folders, `?`, `[a-z]`, `{a,b}`; no slash: any depth."""

from __future__ import annotations

import functools
import re

_TOKEN = re.compile(r"\*\*/|/\*\*$|\*\*|\*|\?|\[!?\]?[^\]]*\]|\{[^{}]*\}|.", re.DOTALL)
_FIXED = {"**/": "(?:.*/)?", "/**": "/.*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def matches(path: str, glob: str) -> bool:
    """Whether the repository-relative `path` matches `glob`; a glob without a slash is matched at any depth."""
    return _compiled(glob).fullmatch(path) is not None


@functools.lru_cache(maxsize=512)
def _compiled(glob: str) -> re.Pattern[str]:
    pattern = glob.removeprefix("./")
    anchored = pattern if "/" in pattern else f"**/{pattern}"
    try:
        return re.compile(_translate(anchored.removeprefix("/")), re.DOTALL)
    except re.error:  # a class such as [z-a]: then it names the characters themselves
        return re.compile("(?:.*/)?" + re.escape(pattern), re.DOTALL)


def _translate(pattern: str) -> str:
    return "".join(_part(token) for token in _TOKEN.findall(pattern))


def _part(token: str) -> str:
    if token in _FIXED:
        return _FIXED[token]
    if len(token) > 1 and token[0] == "[":
        inner = token[1:-1].replace("\\", "\\\\").replace("[", "\\[").replace("^", "\\^")
        return f"[^/{inner[1:]}]" if inner.startswith("!") else f"[{inner}]"
    if len(token) > 1 and token[0] == "{":
        return "(?:" + "|".join(_translate(choice) for choice in token[1:-1].split(",")) + ")"
    return re.escape(token)
