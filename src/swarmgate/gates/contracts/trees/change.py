"""Finds the breaking API changes of JavaScript, TypeScript, Go, Rust and Java files in a change."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from swarmgate.gates.contracts.compare import Dialect, compare
from swarmgate.gates.contracts.model import Break, Surface, Symbol
from swarmgate.gates.contracts.trees import ecmascript, golang, java, rust
from swarmgate.gates.contracts.trees.impact import impact
from swarmgate.gates.project.files import is_test
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from swarmgate.gates.contracts.impact import Usage
    from swarmgate.gates.project.index import Project
    from swarmgate.gates.source.file import Revision, SourceFile


@dataclass(frozen=True)
class _Language:
    read: Callable[[str, bytes], Surface]
    dialect: Dialect
    modules: bool = False
    """Whether a file is a module that users name, so that its removal is one break."""


_LANGUAGES = {
    "ecmascript": _Language(ecmascript.read, Dialect(), modules=True),
    "go": _Language(golang.read, Dialect(exact=True)),
    "rust": _Language(rust.read, Dialect(exact=True), modules=True),
    "java": _Language(java.read, Dialect(exact=True)),
}
_TOOLS = re.compile(
    r"(^|/)(?:[\w.-]+\.)?(?:config|conf|setup|stories|story|mock)\.[cm]?[jt]sx?$|(^|/)(?:Gulpfile|Gruntfile|gulpfile|build)\.(?:js|rs)$"
)
_PUBLIC_MOD = r"^\s*pub\s+mod\s+%s\b"
_MOD = r"^\s*(?:pub\s*\([^)]*\)\s*)?mod\s+%s\s*;"


class TreeChange:
    """The files of one language family in a change. `unread` counts files that do not parse."""

    def __init__(self, name: str, project: Project, pairs: list[SourceFile]) -> None:
        self.name, self.project, self.unread = name, project, 0
        self.language = _LANGUAGES[name]
        self.old: dict[str, list[Surface]] = defaultdict(list)
        self.new: dict[str, list[Surface]] = defaultdict(list)
        for pair in pairs:
            if pair.old and pair.new and pair.old.content == pair.new.content and pair.old.path == pair.new.path:
                continue
            was, now = self._read(pair.old), self._read(pair.new)
            if (pair.old and was is None) or (pair.new and now is None):
                self.unread += 1
                continue
            for surface, side in ((was, self.old), (now, self.new)):
                if surface is not None:
                    side[surface.unit].append(surface)
        self.renamed = {
            pair.old.path: pair.new.path for pair in pairs if pair.old and pair.new and pair.old.path != pair.new.path
        }

    def _read(self, side: Revision | None) -> Surface | None:
        if side is None:
            return None
        try:
            surface = self.language.read(side.path, side.content)
        except (grammars.TooSlow, RecursionError):
            return None
        if is_test(side.path) or _TOOLS.search(side.path):
            for symbol in surface.symbols.values():
                symbol.public = False
        return surface

    def breaks(self) -> Iterator[Break]:
        """Every breaking change of every unit, public or not."""
        for unit, surfaces in self.old.items():
            was, now = _merged(unit, surfaces), _merged(unit, self.new.get(unit, []))
            self._hide(was)
            if self.language.modules and unit not in self.new:
                yield from self._removed(was)
                continue
            now.path = now.path or was.path
            now.open = bool(set(now.stars) - set(was.stars))
            found = compare(was, now, self.language.dialect, self._supplies)
            removed = {each.name for each in found if each.rule == "contract-removed"}
            for each in found:
                owner = each.name.rpartition(".")[0]
                if each.rule == "contract-removed" and (owner in removed or self._elsewhere(each, now)):
                    continue
                yield each

    def impact(self, breaks: Sequence[Break]) -> tuple[dict[int, Usage], str]:
        """The users of each breaking change, by its index."""
        return impact(self.name, self.project, breaks)

    def _removed(self, was: Surface) -> Iterator[Break]:
        symbols = [each for each in was.symbols.values() if each.public]
        now = self.renamed.get(was.path, "")
        if symbols:
            detail = f"module {was.unit} was {f'renamed: it is {now} now' if now else 'removed'}"
            symbol = Symbol(posixpath.basename(was.unit), "module", 0, path=was.path, members=was.symbols)
            yield Break(
                "contract-module-removed", was.unit, "", detail, symbol, None, path=now or was.path, home=was.path
            )  # fmt: skip

    @staticmethod
    def _supplies(surface: Surface, symbol: Symbol, key: str) -> bool:
        del surface, symbol, key
        return False

    def _elsewhere(self, removed: Break, now: Surface) -> bool:
        """Whether a name that its file lost is still in its unit: a star export of where it moved, or another file."""
        word = rb"(?<!\w)%s(?!\w)" % re.escape(removed.name.rpartition(".")[2].encode())
        if now.torn and re.search(word, now.torn):
            return True
        if self.name == "go":
            return self._in_package(removed, now)
        moved = any(removed.name in each.symbols for surfaces in self.new.values() for each in surfaces)
        return moved and bool(now.stars)

    def _in_package(self, removed: Break, now: Surface) -> bool:
        """A Go name may stand in several files, one for each platform."""
        changed = {each.path for surfaces in (*self.old.values(), *self.new.values()) for each in surfaces}
        folder = posixpath.dirname(now.path)
        here = [path for path in self.project.head.files if posixpath.dirname(path) == folder and path not in changed]
        others = self.project.head.contents([p for p in here if p.endswith(".go") and not p.endswith("_test.go")])
        owner, _, last = removed.name.rpartition(".")
        receiver = rb"\([^)]*\b%s(?:\[[^)]*)?\)\s*" % re.escape(owner.encode()) if owner else rb"(?:\([^)]*\)\s*)?"
        word = re.escape(last.encode())
        declared = re.compile(
            rb"^func\s+%s%s\b|^(?:type|var|const)\s+%s\b|^\s+%s\b[^\n(]*=" % (receiver, word, word, word), re.MULTILINE
        )
        return any(declared.search(content) for content in others.values())

    # --- Rust: a module that its parent keeps private ---

    def _hide(self, was: Surface) -> None:
        if self.name != "rust" or not was.path:
            return
        stem = posixpath.basename(was.unit)
        folder = posixpath.dirname(was.unit)
        names = [f"{folder}/mod.rs", f"{folder}/lib.rs", f"{folder}/main.rs", f"{folder}.rs"]
        parents = self.project.head.contents(
            [each.lstrip("/") for each in names if each.lstrip("/") in self.project.head.files]
        )
        for path, content in parents.items():
            code = content.decode("utf-8", "replace")
            binary = path.endswith("main.rs") and len(parents) == 1
            if binary or (
                re.search(_MOD % stem, code, re.MULTILINE) and not re.search(_PUBLIC_MOD % stem, code, re.MULTILINE)
            ):
                exported = " ".join(re.findall(r"^\s*pub\s+use\s+([^;]+);", code, re.MULTILINE))
                whole = re.search(rf"\b{stem}::\*", exported)
                for symbol in was.symbols.values():
                    top = symbol.name.partition(".")[0]
                    symbol.public &= bool(whole) or (bool(re.search(rf"\b{top}\b", exported)) and not binary)


def _merged(unit: str, surfaces: Sequence[Surface]) -> Surface:
    """The files of a unit as one."""
    merged = Surface(unit, surfaces[0].path if surfaces else "")
    for surface in surfaces:
        for name, symbol in surface.symbols.items():
            twice = name in merged.symbols
            merged.symbols[name] = replace(symbol, ambiguous=True) if twice else symbol
        merged.stars += surface.stars
        merged.torn += surface.torn
        merged.origins |= surface.origins
    return merged
