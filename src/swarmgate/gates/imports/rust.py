"""Checks the `use` declarations of a Rust file against the crates that Cargo.toml declares.

Only where nothing in the crate can bear that name: a path may also begin with a module, a type, an alias or a macro's
product of the scope it stands in.
"""

from __future__ import annotations

import posixpath
import re
import tomllib
from functools import cached_property
from typing import TYPE_CHECKING, Any

from swarmgate.config import toml_text
from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.imports.exempt_files import Kind, kind_of
from swarmgate.gates.project.view import ancestors

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.gates.project.view import View

_KEYWORDS = {"std", "core", "alloc", "proc_macro", "test", "crate", "self", "super", "Self", "r"}
_USE = re.compile(
    rb"^[ \t]*(?:pub(?:\([^)]*\))?\s+)?(?:use\s+(?:::)?([a-z_]\w*)(?=\s*(?:::|;|\s+as\b))|extern\s+crate\s+(\w+))",
    re.MULTILINE,
)
_TABLES = ("dependencies", "dev-dependencies", "build-dependencies")


class RustChecker:
    """The checker of one tree."""

    def __init__(self, view: View) -> None:
        self.view = view

    def check(self, path: str, content: bytes) -> list[Finding]:
        """The findings of one file; none where no Cargo.toml declares a package above it, or for test data."""
        above = [
            each for folder in ancestors(path) if (each := posixpath.join(folder, "Cargo.toml")) in self.view.files
        ]
        if not above or kind_of(path) is Kind.DATA or (b"cfg(feature" in content and b"extern crate" in content):
            return []
        crates = {name for each in above for name in _crates(self.view.text(each))} | self._members
        return list(self._check(path, content, crates))

    def _check(self, path: str, content: bytes, crates: set[str]) -> Iterator[Finding]:
        for found in _USE.finditer(_blanked(content)):
            name = (found[1] or found[2]).decode()
            if name in _KEYWORDS or name in crates or name in self._modules or self._is_bound(name, content):
                continue
            line = content.count(b"\n", 0, found.start(1) if found[1] else found.start(2)) + 1
            severity = Severity.LOW if kind_of(path) is Kind.ASIDE else Severity.HIGH
            message = f"`{name}` is neither a module of the crate nor a dependency in Cargo.toml: an invented crate?"
            hint = "cargo add it, or use a crate that is there"
            yield Finding(
                rule="invented-package",
                path=path,
                line=line,
                severity=severity,
                message=message,
                suggestion=hint,
                subject=name,
            )

    @staticmethod
    def _is_bound(name: str, content: bytes) -> bool:
        """Whether the file itself brings the name: a module, an item, an alias, or one taken out of a list."""
        word = re.escape(name.encode())
        return len(re.findall(rb"(?:\b(?:mod|enum|struct|trait|type|fn|union|as)\s+|[{,:]\s*)%b\b" % word, content)) > 0

    @cached_property
    def _modules(self) -> frozenset[str]:
        """The names of all modules of the tree, by their files and folders."""
        places = [path for path in self.view.files if path.endswith(".rs")]
        return frozenset(part.removesuffix(".rs") for path in places for part in path.split("/"))

    @cached_property
    def _members(self) -> frozenset[str]:
        places = [path for path in self.view.files if posixpath.basename(path) == "Cargo.toml"]
        self.view.fetch(places)
        names = (
            re.search(r'^\[(?:package|lib)\][^\[]*?^name\s*=\s*"([^"]+)"', self.view.text(p), re.MULTILINE)
            for p in places
        )
        return frozenset(found[1].replace("-", "_") for found in names if found)


def _crates(text: str) -> Iterator[str]:
    try:
        data = toml_text.loads(text)
    except tomllib.TOMLDecodeError:
        yield from (word.replace("-", "_") for word in re.findall(r"^([\w-]+)\s*=", text, re.MULTILINE))
        return
    tables = [data, data.get("workspace", {}), *_dicts(data.get("target", {}))]
    for table in tables:
        for key in _TABLES:
            yield from (name.replace("-", "_") for name in table.get(key, {}))
    for key in ("package", "lib"):
        own = data.get(key, {}).get("name", "")
        yield str(own).replace("-", "_")


def _dicts(table: Any) -> list[dict[str, Any]]:
    return [each for each in table.values() if isinstance(each, dict)] if isinstance(table, dict) else []


def _blanked(content: bytes) -> bytes:
    """The code with comments and raw strings blanked, at the same places."""
    pattern = rb'//[^\n]*|/\*.*?\*/|r#+".*?"#+|"(?:\\.|[^"\\])*"'
    return re.sub(pattern, lambda found: re.sub(rb"[^\n]", b" ", found[0]), content, flags=re.DOTALL)
