"""Checks that the attributes and call arguments that a Python file uses of its imports exist.

Only what is certain: a name bound once, a module whose names are all known (the standard library, a module of the
project that makes none at run time), a class with all of its bases, a function that nothing decorates or replaces.
"""

from __future__ import annotations

import ast
import difflib
import re
from typing import TYPE_CHECKING

from swarmgate.domain.review.finding import Finding, Severity
from swarmgate.gates.contracts.python.uses import Use, caught, misfit, uses
from swarmgate.gates.imports.exempt_files import Kind, kind_of
from swarmgate.gates.imports.python import source, stdlib
from swarmgate.gates.imports.python.objects import Class, Function, Objects
from swarmgate.gates.source import python_tree
from swarmgate.workspace.files.paths import encode
from swarmgate.workspace.git.driver import Driver, call, failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from swarmgate.gates.contracts.python.scopes import Ref
    from swarmgate.gates.imports.python.modules import PythonNames
    from swarmgate.gates.imports.python.project import Place, PythonProject
    from swarmgate.gates.project.view import View

_ABSENCE = {"ImportError", "ModuleNotFoundError", "AttributeError", "NameError", "TypeError"}
_BROAD = {"Exception", "BaseException"}
_MADE_FOR_IT = re.compile(r"Mixin|Base|Abstract|Interface|Protocol")
_OF_ALL = {"mro"}
"""What every class has."""


def _forgives(node: ast.Try) -> bool:
    """Whether absence is expected there; a broad handler around much code says nothing of one name in it."""
    names = {name for each in node.handlers for name in caught(each)}
    return bool(names & _ABSENCE) or (len(node.body) == 1 and bool(names & _BROAD))


class PythonMembers:
    """Checks the members that files of one tree use."""

    def __init__(
        self, view: View, project: PythonProject, names: PythonNames, ours: Callable[[str, str], bool],
        python: tuple[int, int] | None,
    ) -> None:  # fmt: skip
        """`ours(module, importer)`: whether a module is certainly the project's; `python`: its lowest version."""
        self._view, self._project, self._names = view, project, names
        self._ours, self._python = ours, python
        self._objects = Objects(view, project)
        self._replaced: dict[str, bool] = {}
        self._bases: dict[str, bool] = {}

    def check(self, path: str, content: bytes) -> list[Finding]:
        """The findings of one file that parses."""
        found_uses = uses(python_tree.parse(content), path, forgives=_forgives)
        spans: list[tuple[int, int]] | None = None  # most files have no use that asks for them
        found: dict[tuple[int, str], tuple[str, Finding]] = {}
        for use in found_uses:
            if use.how in {"import", "listed"}:
                continue
            for name, finding in self._check(path, use):
                spans = source.guarded_lines(content) if spans is None else spans
                if not any(first <= use.line <= last for first, last in spans):
                    found.setdefault((use.line, name), (name, finding))
        replaced = self._replacements({name for name, _ in found.values()})
        return [finding for name, finding in found.values() if name not in replaced]

    def _check(self, path: str, use: Use) -> Iterator[tuple[str, Finding]]:
        """What is wrong with one use, with the name that would have to be there."""
        ref = use.ref
        if use.bare and (ref.instance or use.how == "name"):
            return  # what a name stands for was judged where it was imported or made
        top = ref.module.partition(".")[0]
        if not ref.module.startswith("/") and stdlib.knows(top, self._python) and not self._project.locate(top, path):
            if not ref.declared:  # it may be told to be of a subclass further down
                yield from self._standard(path, use)
        elif ref.module.startswith("/") or self._ours(ref.module, path):
            yield from self._project_use(path, use)

    # --- the standard library ---

    def _standard(self, path: str, use: Use) -> Iterator[tuple[str, Finding]]:
        module, rest = use.ref.module, list(use.ref.names)
        while rest and stdlib.is_module(f"{module}.{rest[0]}"):
            module = f"{module}.{rest.pop(0)}"
        names = stdlib.names(module)
        if not rest or names is None:
            return
        if rest[0] in names and len(rest) > 1:
            owner = names[rest[0]]
            names = stdlib.names(f"{owner.home or module}:{owner.name}")
            title, known, rest = f"{module}.{owner.name}", names or {}, rest[1:]
            kind = "class"
        else:
            title, known, kind = module, names, "module"
        name = rest[0]
        if names is None or len(rest) > 1 or name.startswith("_") or name in _OF_ALL or use.bare:
            return
        if name not in known:
            yield name, self._absent(path, use, title, kind, name, known)
            return
        lacking = known[name].lacking(self._python)
        if lacking:
            yield name, self._finding(
                path, use, "unresolved-attribute", Severity.MEDIUM, f"`{title}` has `{name}` {lacking}",
                "ask for the version first, or use what every supported version has",
            )  # fmt: skip

    # --- the project ---

    def _project_use(self, path: str, use: Use) -> Iterator[tuple[str, Finding]]:
        place, rest = self._place(path, use.ref)
        if place is None or not rest or len(place.files) != 1 or not place.files[0].endswith(".py"):
            return  # a stub may be about an extension, and leave something out
        name, own = rest[0], place.files == (path,)
        if len(rest) == 1 and not (own or use.bare or use.ref.instance) and not self._names.has(place, name):
            title = self._project.module_of(place.files[0])
            yield name, self._absent(path, use, title, "module", name, self._names.known(place))
            return
        found = self._objects.find(place, name)
        if isinstance(found, Class) and len(rest) == 2:  # noqa: PLR2004 - the class and its member
            yield from self._member(path, use, found, name, rest[1], below=use.ref.own or use.ref.declared)
        elif isinstance(found, Function) and found.gives and len(rest) == 2 and use.ref.instance:  # noqa: PLR2004 - the same
            title, owner = found.gives
            yield from self._member(path, use, owner, title, rest[1], below=True)
        elif found is not None and len(rest) == 1 and use.how == "call" and not use.ref.instance:
            maker = found if isinstance(found, Function) else found.maker
            if maker is not None:
                yield from self._arguments(path, use, name, name, maker.signature)

    def _member(
        self, path: str, use: Use, owner: Class, title: str, name: str, *, below: bool
    ) -> Iterator[tuple[str, Finding]]:
        """What is wrong with a member of a class; `below`: the object may be one of a class derived from it."""
        method = owner.methods.get(name)
        if owner.lacks(name) and name not in _OF_ALL:
            if not (below and self._is_base(title)):
                yield name, self._absent(path, use, title, "class", name, owner.members)
        elif method is not None and use.how == "call" and not below:
            skip = int(method.bound and not use.ref.instance)
            yield from self._arguments(path, use, name, f"{title}.{name}", method.signature, skip=skip)

    def _arguments(
        self, path: str, use: Use, name: str, title: str, signature: tuple[object, ...], *, skip: int = 0
    ) -> Iterator[tuple[str, Finding]]:
        wrong = misfit(signature, use.call, skip=skip) if use.call is not None else None  # type: ignore[arg-type]  # a Signature
        if wrong:
            message = f"`{title}` cannot be called like this: the call {wrong.how}"
            yield name, self._finding(path, use, "wrong-arguments", Severity.HIGH, message)

    def _place(self, path: str, ref: Ref) -> tuple[Place | None, tuple[str, ...]]:
        """The module that a reference leads to, and what of it is left below."""
        if ref.module.startswith("/"):
            place: Place | None = self._project.walk("", [part for part in ref.module.split("/") if part])
        else:
            places = self._project.locate(ref.module, path)
            place = places[0] if places else None
        rest = ref.names
        while place is not None and not place.missing and rest:
            below = self._project.walk(place.folder, [rest[0]])
            if below.missing or any(rest[0] in self._names.of(file).names for file in place.files):
                break
            place, rest = below, rest[1:]
        return (place if place is not None and not place.missing else None), rest

    # --- telling ---

    def _absent(
        self, path: str, use: Use, title: str, kind: str, name: str, known: Iterable[str]
    ) -> Finding:  # fmt: skip
        near = difflib.get_close_matches(name, sorted(known), n=1)
        return self._finding(
            path, use, "unresolved-attribute", Severity.HIGH, f"the {kind} `{title}` has no `{name}`",
            f"did you mean `{near[0]}`?" if near else "use what is there, or define it",
        )  # fmt: skip

    @staticmethod
    def _finding(path: str, use: Use, rule: str, severity: Severity, message: str, suggestion: str = "") -> Finding:
        if kind_of(path) is Kind.ASIDE:
            severity = Severity.LOW
        return Finding(
            rule=rule, path=path, line=use.line, column=use.column,
            severity=severity, message=message, suggestion=suggestion,
        )  # fmt: skip

    def _is_base(self, name: str) -> bool:
        """Whether a class is made to be derived from, or some file does so: an object may be of another class then."""
        if name not in self._bases:
            pattern = rf"^[[:space:]]*class[[:space:]].*[(,.[:space:]]{name}[],)[:space:]]|^[[:space:]]+{name},?$"
            self._bases[name] = _MADE_FOR_IT.search(name) is not None or bool(self._grep(pattern))
        return self._bases[name]

    def _grep(self, pattern: str) -> bytes:
        """The lines of the tree's Python files that an extended regular expression matches."""
        options = ("grep", "-h", "-I", "-E", "-e", pattern)
        code, out, err = call(Driver(self._view.repository.root).top, *options, self._view.tree, "--", "*.py", "*.pyi")
        if code > 1:
            raise failure("grep", err)
        return out

    def _replacements(self, names: set[str]) -> set[str]:
        """Those names that some file of the tree assigns as an attribute of something, or patches by name."""
        fresh = sorted(names - self._replaced.keys())
        if fresh:
            words = "|".join(map(re.escape, fresh))
            quoted = rf"(setattr|patch|__dict__|monkeypatch|mock)[^#]*[\"']([A-Za-z0-9_.]*\.)?({words})[\"']"
            pattern = rf"\.({words})[[:space:]]*(:[^=]*)?=([^=]|$)|{quoted}"
            out = self._grep(pattern)
            self._replaced |= {name: re.search(rb"\b%b\b" % re.escape(encode(name)), out) is not None for name in fresh}
        return {name for name in names if self._replaced[name]}
