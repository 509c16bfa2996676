"""Finds the files that use a broken API in the tree-sitter languages, and those that fail now."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from typing import TYPE_CHECKING

from swarmgate.gates.contracts.impact import MOST_FILES, REMOVALS, Broken, Usage
from swarmgate.gates.contracts.trees import (
    ecmascript,
    ecmascript_uses,
    golang,
    golang_uses,
    java,
    java_uses,
    rust,
    rust_uses,
)
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from swarmgate.gates.contracts.model import Break, Call, Symbol
    from swarmgate.gates.contracts.trees.uses import Use
    from swarmgate.gates.project.index import Project

_LANGUAGES = {
    "ecmascript": ("javascript", "typescript"), "go": ("go",), "rust": ("rust",), "java": ("java",),
}  # fmt: skip
_EXPORTING = re.compile(rb"\bexport\s*(?:\*|\{)")
_VERBS = {"import": "imports", "call": "calls", "name": "uses", "absent": "calls"}


def impact(language: str, project: Project, breaks: Sequence[Break]) -> tuple[dict[int, Usage], str]:
    """The usage of each break, by its index, and a note where not every file could be looked at."""
    search = _Search(language, project, breaks)
    note = search.run()
    return search.usage, note


class _Search:
    def __init__(self, language: str, project: Project, breaks: Sequence[Break]) -> None:
        self.language, self.project, self.breaks = language, project, breaks
        self.usage: dict[int, Usage] = defaultdict(Usage)
        self.by_name: dict[tuple[str, str], list[int]] = defaultdict(list)
        for index, each in enumerate(breaks):
            self.by_name[each.unit, each.name].append(index)
        self.units = {each.unit for each in breaks}
        self.modules = {each.unit for each in breaks if not each.name}
        self.aliases: dict[tuple[str, str], tuple[str, str]] = {}

    def run(self) -> str:
        modules = {posixpath.basename(each) for each in self.units} if self.language == "ecmascript" else set()
        words, languages = self._words() | modules, _LANGUAGES[self.language]
        contents = self.project.head.mentioning(words, languages, self.project.stopped)
        if self.language == "ecmascript":
            self._exports({path: content for path, content in contents.items() if _EXPORTING.search(content)})
        near = self._near()
        files = [path for path, content in contents.items() if near(path, content)]
        many = len(files) > MOST_FILES
        for path in files[:MOST_FILES]:
            if self.project.stopped():
                break
            try:
                found = self._uses(path, contents[path])
            except (grammars.TooSlow, RecursionError):
                continue
            self._check_file(path, found)
        return f"users of {self.language} contracts sought in {MOST_FILES} of {len(files)} files" * many

    def _near(self) -> Callable[[str, bytes], bool]:
        """Whether a file may use what broke, told by its bytes: it names the module, or belongs to it."""
        if self.language == "go":
            folders, imported = self.units, _any_of(path for path in self._packages() if not path.startswith("./"))
            return lambda path, content: golang.unit(path) in folders or bool(imported.search(content))
        if self.language == "java":
            packages = _any_of(java.package(each) for each in self.units)
            return lambda _, content: bool(packages.search(content))
        words = _any_of(posixpath.basename(each) for each in self.units)
        if self.language == "rust":
            return lambda path, content: rust.unit(path) in self.units or bool(words.search(content))
        source = re.compile(rb"[\"'`](?:[^\"'`\n]*/)?(?:%s|\.{1,2}/?)(?:\.\w+)?[\"'`]" % words.pattern)
        return lambda path, content: ecmascript.unit(path) in self.units or bool(source.search(content))

    def _words(self) -> set[str]:
        words = set()
        for each in self.breaks:
            last = each.name.rpartition(".")[2] if each.name else posixpath.basename(each.unit)
            maker = last == "constructor"
            words.add(each.name.split(".")[-2] if maker else last)
            if last == "default" or each.name.startswith("default."):
                words.add(posixpath.basename(each.unit))
        return words - {"default", ""}

    def _exports(self, contents: dict[str, bytes]) -> None:
        """Modules that export the broken names anew, so that others use them from there."""
        for path, content in contents.items():
            for name, where, original in ecmascript_uses.exports(path, content, self.units):
                here = ecmascript.unit(path)
                names = [each.name.partition(".")[0] for each in self.breaks if each.unit == where]
                for each in names if name == "*" else [original]:
                    self.aliases[here, each if name == "*" else name] = where, each
        self.units |= {unit for unit, _ in self.aliases}

    def _uses(self, path: str, content: bytes) -> list[Use]:
        if self.language == "ecmascript":
            return ecmascript_uses.uses(path, content, self.units)
        if self.language == "java":
            return java_uses.uses(content, self._types())
        if self.language == "rust":
            return rust_uses.uses(path, content, self.units)
        return golang_uses.uses(path, content, self._packages())

    def _types(self) -> dict[tuple[str, str], str]:
        """The unit of each type that broke, by package and name; where several modules have it, it is nobody's."""
        found: dict[tuple[str, str], str] = {}
        for each in self.breaks:
            package, type_ = java.package(each.unit), each.name.split(".")[0]
            tail = "/".join(filter(None, (*package.split("."), f"{type_}.java")))
            twins = [path for path in self.project.head.files if f"/{path}".endswith(f"/{tail}") and path != each.path]
            if not twins:
                found[package, type_] = each.unit
        return found

    def _packages(self) -> dict[str, str]:
        found = [path for path in self.project.head.files if posixpath.basename(path) == "go.mod"]
        modules = {}
        for path, content in self.project.head.contents(found).items():
            named = re.search(rb"^module\s+(\S+)", content, re.MULTILINE)
            if named:
                modules[golang.unit(path)] = named[1].decode("utf-8", "replace").strip('"')
        paths = {each: golang_uses.import_path(each, modules) for each in self.units}
        return {path or f"./{each}": each for each, path in paths.items()}

    def _check_file(self, path: str, found: Sequence[Use]) -> None:
        hits = [(index, use) for use in found for index in self._hits(use)]
        imported = {index for index, use in hits if use.how == "import"}
        for index, use in hits:
            each = self.breaks[index]
            if path != each.path:
                self.usage[index].users.add(path)
            removed = each.rule in REMOVALS
            if removed and index in imported and use.how != "import":
                continue  # told once, at the import
            problem = self._problem(each, use, path)
            if problem:
                self.usage[index].add(Broken(path, use.line, use.column, problem))

    def _hits(self, use: Use) -> list[int]:
        unit, name = use.unit, use.name
        top, _, rest = name.partition(".")
        if (unit, top) in self.aliases:
            unit, top = self.aliases[unit, top]
            name = f"{top}.{rest}" if rest else top
        if unit in self.modules:
            return self.by_name[unit, ""] if use.how == "import" and self._missing(unit) else []
        found = list(self.by_name.get((unit, name), ()))
        if use.how == "call" and not found and (unit, f"default.{name}") in self.by_name:
            found = self.by_name[unit, f"default.{name}"]
        return found

    def _missing(self, unit: str) -> bool:
        """Whether nothing else answers to a module's name: another suffix, an index file, a folder's `mod.rs`."""
        near = (f"{unit}.", f"{unit}/index.", f"{unit}/mod.rs")
        return not any(path.startswith(near) for path in self.project.head.files)

    def _problem(self, broken: Break, use: Use, path: str) -> str:
        name = broken.name or broken.unit
        still = f"still {_VERBS[use.how]} `{name}`"
        if broken.rule in REMOVALS:
            own = path == broken.path and use.how == "call" and self.language in {"ecmascript", "rust"}
            return still if broken.name == "" or (not own and _closed(broken)) else ""
        if use.how != "call" or use.given < 0 or broken.old is None or broken.new is None:
            return ""
        if not re.search("parameter-(removed|added|required)|overload", broken.rule) or not _closed(broken):
            return ""
        lenient = self.language == "ecmascript" and broken.path.endswith(("js", "jsx"))
        near = self.language == "java" and java.is_inside(broken.unit, path)
        if near and any(_least(call) <= use.given <= _most(call) for call in broken.new.narrow):
            return ""
        method = self.language == "rust" and any(p.name == "self" for call in broken.old.calls for p in call.parameters)
        if method or not _fits(broken.old, use.given, lenient=lenient) or _fits(broken.new, use.given, lenient=lenient):
            return ""
        if lenient and all(use.given < _declared(call) for call in broken.old.calls):
            return ""  # it passed too little before the change, too
        takes = " or ".join(sorted({_takes(call) for call in broken.new.calls}))
        return f"{still} with {use.given} argument{'s' * (use.given != 1)}, it takes {takes}"


def _any_of(words: Iterable[str]) -> re.Pattern[bytes]:
    return re.compile(rb"(?:%s)" % b"|".join(sorted(re.escape(each.encode()) for each in words)) or rb"(?!)")


def _closed(broken: Break) -> bool:
    """Whether a class shows all its members: without a base, nothing else can supply one."""
    if "." not in broken.name or broken.name.endswith("constructor"):
        return True
    owner = broken.new if broken.rule in REMOVALS else None
    return owner is None or not (owner.bases or owner.open)


def _fits(symbol: Symbol, given: int, *, lenient: bool) -> bool:
    """Whether so many arguments can be passed; `lenient`: too many do no harm (JavaScript)."""
    return any(_least(call) <= given and (lenient or given <= _most(call)) for call in symbol.calls)


def _least(call: Call) -> int:
    required = [number for number, each in enumerate(call.parameters, 1) if each.required and not each.kind.variadic]
    return max(required, default=0)


def _declared(call: Call) -> int:
    """The parameters up to the last one without a default, whether or not the body does without them."""
    plain = [number for number, each in enumerate(call.parameters, 1) if not each.default and not each.kind.variadic]
    return max(plain, default=0)


def _most(call: Call) -> float:
    return float("inf") if any(each.kind.variadic for each in call.parameters) else len(call.parameters)


def _takes(call: Call) -> str:
    least, most = _least(call), _most(call)
    if least == most:
        return str(least)
    return f"at least {least}" if most == float("inf") else f"{least} to {most:.0f}"
