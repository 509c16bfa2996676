"""Finds the Python files that use a broken API, and those of them that certainly fail now."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from typing import TYPE_CHECKING

from swarmgate.gates.contracts import typing_forms
from swarmgate.gates.contracts.impact import MOST_FILES, REMOVALS, Broken, Usage
from swarmgate.gates.contracts.python import module_facts as python_facts
from swarmgate.gates.contracts.python.scopes import Ref
from swarmgate.gates.contracts.python.uses import Misfit, Use, misfit, uses

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from swarmgate.gates.contracts.model import Break, Symbol
    from swarmgate.gates.contracts.python.surfaces import PythonSurfaces

_HOPS = 5
_IGNORED = b"type: ignore"


def impact(surfaces: PythonSurfaces, breaks: Sequence[Break]) -> tuple[dict[int, Usage], str]:
    """The usage of each break, by its index, and a note where not every file could be looked at."""
    search = _Search(surfaces, breaks)
    note = search.run()
    return search.usage, note


class _Search:
    def __init__(self, surfaces: PythonSurfaces, breaks: Sequence[Break]) -> None:
        self.surfaces, self.project, self.breaks = surfaces, surfaces.project, breaks
        self.usage: dict[int, Usage] = defaultdict(Usage)
        self.by_name: dict[tuple[str, str], list[int]] = defaultdict(list)
        self.removed = {each.home for each in breaks if not each.name}
        for index, each in enumerate(breaks):
            self.by_name[each.home, each.name].append(index)
            if each.name.endswith((".__init__", ".__new__")):
                self.by_name[each.home, each.name.rpartition(".")[0]].append(index)
        self.homes = {each.home for each in breaks}
        self.tops = {(each.home, each.name.partition(".")[0]) for each in breaks}
        self.contents: dict[str, bytes] = {}
        self._facts: dict[str, python_facts.Facts | None] = {}
        self._located: dict[tuple[str, str], str] = {}

    def run(self) -> str:
        self.contents = self.project.head.mentioning(self._words(), {"python"}, self.project.stopped)
        near = re.compile(rb"(?:^|\n)[ \t]*(?:from|import)\b[^\n]*(?:\([^)]*)?\b(?:%s)\b" % b"|".join(self._modules()))
        files = [path for path, content in self.contents.items() if path in self.homes or near.search(content)
                 or self._inside(path)]  # fmt: skip
        for path in files[:MOST_FILES]:
            if self.project.stopped():
                break
            self._file(path)
        return f"users of Python contracts sought in {MOST_FILES} of {len(files)} files" * (len(files) > MOST_FILES)

    def _words(self) -> set[str]:
        words = set()
        for each in self.breaks:
            parts = each.name.split(".") if each.name else [each.unit.rpartition(".")[2]]
            if parts[-1] in {"__init__", "__new__"}:
                parts.pop()
            words.add(parts[-1])
        return words

    def _modules(self) -> set[bytes]:
        """Words of which one stands in an import of what is broken: its module, or a package that may re-export it."""
        return {re.escape(part.encode()) for each in self.breaks for part in each.unit.split(".")}

    def _inside(self, path: str) -> bool:
        """`from . import name` names no module: a package's own files see it without."""
        folders = {posixpath.dirname(home) for home in self.homes if home.endswith("__init__.py")}
        return any(path.startswith(f"{folder}/") for folder in folders)

    def _file(self, path: str) -> None:
        content = self.contents[path]
        try:
            found = uses(python_facts.parse(content), path)
        except (python_facts.Unreadable, RecursionError):
            return
        lines = content.split(b"\n")
        hits = [(index, use) for use in found for index in self._hits(use, path)]
        imported = {index for index, use in hits if use.how == "import"}
        for index, use in hits:
            if path not in (self.breaks[index].home, self.breaks[index].path):
                self.usage[index].users.add(path)
            if index in imported and self.breaks[index].rule in REMOVALS and use.how != "import":
                continue  # told once, at the import
            problem = None if _IGNORED in lines[use.line - 1] else self._misfit_of(self.breaks[index], use)
            if problem:
                self.usage[index].add(Broken(path, use.line, use.column, *problem))

    # --- which breaks a use runs into ---

    def _hits(self, use: Use, importer: str) -> Iterator[int]:
        ref, reader = use.ref, importer
        for _ in range(_HOPS):
            home, names = self._resolve(ref, reader)
            if not home:
                return
            if home in self.removed:
                yield from self.by_name[home, ""]
                return
            if names and (home, names[0]) in self.tops:
                yield from self.by_name.get((home, ".".join(names)), ())
                return
            onward = self._onward(home, names)
            if onward is None:
                return
            ref, reader = onward, home

    def _resolve(self, ref: Ref, importer: str) -> tuple[str, tuple[str, ...]]:
        for length in range(len(ref.names), -1, -1):
            module = "/".join((ref.module, *ref.names[:length])) if ref.module.startswith("/") else ".".join(
                filter(None, (ref.module, *ref.names[:length]))
            )  # fmt: skip
            path = self._locate(module, importer)
            if path:
                return path, ref.names[length:]
        return "", ()

    def _locate(self, module: str, importer: str) -> str:
        key = module, posixpath.dirname(importer)
        if key not in self._located:
            path = self.surfaces.modules.locate(module, importer)
            if not path and self.removed:
                lost = self.surfaces.old_modules.locate(module, importer)
                path = lost if lost in self.removed and not self._provided(lost) else ""
            self._located[key] = path
        return self._located[key]

    def _provided(self, lost: str) -> bool:
        """Whether the package of a removed module has a name that stands for it."""
        package = posixpath.join(posixpath.dirname(lost), "__init__.py")
        facts = self._facts_of(package) if package in self.surfaces.present else None
        return facts is not None and (facts.dynamic or posixpath.splitext(posixpath.basename(lost))[0] in facts.imports)

    def _onward(self, home: str, names: tuple[str, ...]) -> Ref | None:
        """Where a name leads that a module has only imported itself."""
        facts = self._facts_of(home) if names else None
        if facts is None:
            return None
        module, original = facts.imports.get(names[0], ("", ""))
        if module:
            return Ref(module, tuple(filter(None, (original, *names[1:]))))
        targets = {(self._locate(star, home), names[0]): star for star in facts.stars}
        known = [star for key, star in targets.items() if key in self.tops]
        return Ref(known[0], names) if known else None

    def _facts_of(self, path: str) -> python_facts.Facts | None:
        if path not in self._facts:
            try:
                content = self.project.head.content(path)
                self._facts[path] = (
                    python_facts.Facts(python_facts.parse(content), path) if content is not None else None
                )
            except python_facts.Unreadable:
                self._facts[path] = None
        return self._facts[path]

    # --- whether it still works ---

    def _misfit_of(self, broken: Break, use: Use) -> Misfit | None:
        """What the use still does that no longer works; None where it works, or where that is not certain."""
        if use.how == "call" and ("parameter" in broken.rule or "overload" in broken.rule):
            return self._misfit(broken, use)
        problem = self._problem(broken, use)
        return Misfit(problem) if problem else None

    def _problem(self, broken: Break, use: Use) -> str:
        name = broken.name or broken.unit
        verb = {"import": "imports", "call": "calls", "name": "uses", "listed": "lists"}[use.how]
        if broken.rule in REMOVALS:
            certain = broken.new is None or self._closed(broken, use)
            return f"still {verb} `{name}`" if certain and use.how != "call" else ""
        if use.how != "call" or use.call is None or broken.new is None or broken.old is None:
            return ""
        if broken.rule == "contract-async-changed":
            return _asynchronous(broken.new, use, name)
        if broken.rule == "contract-kind-changed" and broken.new.kind == "property" and use.ref.instance:
            plain = typing_forms.clash(broken.new.type, "list")
            return f"still calls `{name}()`" if plain else ""
        return ""

    def _misfit(self, broken: Break, use: Use) -> Misfit | None:
        old, new = broken.old, broken.new
        if use.call is None or old is None or new is None:
            return None
        maker = broken.name.endswith((".__init__", ".__new__"))
        method = "." in broken.name and not maker and not {"static", "class"} & old.traits
        skip = int(method and not use.ref.instance)
        if (maker and use.ref.instance) or (broken.soft and not maker and not method):
            return None
        if all(misfit(form.parameters, use.call, skip=skip) for form in old.calls):
            return None
        misfits = [misfit(form.parameters, use.call, skip=skip) for form in new.calls]
        if not misfits or misfits[0] is None or not all(misfits):
            return None
        name = broken.name.rpartition(".")[0] if maker else broken.name
        return Misfit(f"still calls `{name}` the old way: it {misfits[0].how}", misfits[0].parameter)

    def _closed(self, broken: Break, use: Use) -> bool:
        """Whether a removed member of a class is certainly not there: every base is known, nobody else defines it."""
        surface = self.surfaces.surface(broken.home)
        symbol = broken.new
        if surface is None or symbol is None or symbol.open or not self.surfaces.bases.known(surface, symbol):
            return False
        if not use.ref.own:
            return True
        member = re.escape(broken.name.rpartition(".")[2].encode())
        defined = re.compile(rb"\bdef\s+%s\b|\b%s\s*(?::[^\n=]+)?=[^=]|[\"']%s[\"']" % (member, member, member))
        return not any(defined.search(content) for content in self.contents.values())


def _asynchronous(new: Symbol, use: Use, name: str) -> str:
    if "async" in new.traits:
        return f"still calls `{name}` without awaiting it" if use.alone else ""
    returns = new.calls[0].returns if new.calls else ""
    plain = typing_forms.clash(returns, "Awaitable") or (returns and typing_forms.clash(returns, "bytearray"))
    return f"still awaits `{name}`" if use.awaited and plain else ""
