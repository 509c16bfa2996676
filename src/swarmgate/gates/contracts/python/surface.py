"""Extracts the public API of a Python module from its source text with griffe's visitor.

Nothing is imported or run. Public is what `__all__` names; without it what has no leading underscore and was not
imported, except in an `__init__.py`, where names from the own package are re-exports.
"""

from __future__ import annotations

import ast
import functools
import posixpath
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from swarmgate.gates.contracts.model import Call, Parameter, ParameterKind, Surface, Symbol
from swarmgate.gates.contracts.python import griffe_visitor
from swarmgate.gates.contracts.python.module_facts import OPEN_CLASS, Facts, Unreadable, decode, parse
from swarmgate.gates.source import python_tree

if TYPE_CHECKING:
    import griffe

_SILENT = frozenset({
    "__init__", "__new__", "__repr__", "__str__", "__slots__", "__doc__", "__module__", "__del__",
    "__getattr__", "__annotations__", "__match_args__", "__all__", "__author__", "__hash__",
    "__init_subclass__", "__class_getitem__", "__post_init__", "__getstate__", "__setstate__", "__reduce__",
    "__dir__", "__sizeof__", "__format__", "__set_name__", "__subclasshook__", "__metaclass__", "__dict__",
    "__weakref__", "__license__", "__copyright__", "__email__", "__date__", "__credits__", "__maintainer__",
    "__status__", "__path__", "__name__", "__file__", "__test__",
})  # fmt: skip
_MAKERS = {"__init__", "__new__"}
_ENUMS = {"Enum", "IntEnum", "StrEnum", "Flag", "IntFlag"}
_UNIMPORTANT = {"object", "Generic", "ABC", "Protocol"}
_CONTEXT = {"contextmanager", "asynccontextmanager"}
_FIELDS = {"dataclass", "define", "frozen", "mutable", "attrs", "dataclasses", "s", "attributes"}


def read(path: str, content: bytes) -> Surface:
    """The surface of a module, private names included (`Symbol.public` tells them apart).

    Raises:
        Unreadable: the file does not parse, or is nested too deeply.
    """
    griffe = griffe_visitor.load()
    tree = parse(content)
    facts = Facts(tree, path)
    visitor = griffe.Visitor("m", PurePosixPath(path), decode(content), griffe.load_extensions())
    try:
        with python_tree.quiet():  # it reads annotations in quotes, and hangs nodes below their parents for a while
            try:
                visitor.visit(tree)
            finally:
                for node in python_tree.walk(tree):
                    vars(node).pop("parent", None)
    except Exception as error:  # griffe's visitor has no error of its own for code that it does not expect
        raise Unreadable(str(error)) from error
    return _Reader(visitor.current.module, facts, path).surface()


class _Reader:
    """Turns griffe's objects into symbols."""

    def __init__(self, module: griffe.Module, facts: Facts, path: str) -> None:
        self.module, self.facts, self.path = module, facts, path
        self.exports = None if module.exports is None else {str(getattr(e, "name", e)) for e in module.exports}
        self.package = posixpath.basename(path) in {"__init__.py", "__init__.pyi"}

    def surface(self) -> Surface:
        facts = self.facts
        surface = Surface(
            "",
            self.path,
            origins=facts.imports,
            stars=tuple(facts.stars),
            spoken=facts.spoken,
            open=facts.made,
            made=facts.made,
        )
        for name, each in self.module.members.items():
            if "/" in name or name in _SILENT:
                continue
            symbol = self._symbol(each, name)
            symbol.public = self._public(name, symbol)
            if self.exports is not None and name in self.exports:
                symbol.traits |= {"exported"}
            surface.symbols[name] = symbol
        for name in facts.imports.keys() - surface.symbols.keys():
            surface.symbols[name] = Symbol(name, "alias", 1, public=self._public(name, None))
        return surface

    def _public(self, name: str, symbol: Symbol | None) -> bool:
        if self.exports is not None:
            return name in self.exports
        if name.startswith("_"):
            return name == "__version__"
        if symbol is None or symbol.kind == "alias":
            origin = self.facts.imports.get(name, ("", ""))[0]
            return (self.package and origin.startswith("/")) or name in self.facts.explicit
        return True

    def _symbol(self, each: griffe.Object | griffe.Alias, path: str) -> Symbol:
        name = path.rpartition(".")[2]
        if each.is_alias:
            return Symbol(name, "alias", getattr(each, "alias_lineno", 0) or 1)
        symbol = Symbol(name, "attribute", each.lineno or 0, path=self.path, ambiguous=path in self.facts.repeated)
        symbol.public = not name.startswith("_") or (name.endswith("__") and name not in _SILENT - _MAKERS)
        if each.is_function:
            self._function(symbol, each)  # type: ignore[arg-type]  # griffe's predicates do not narrow
        elif each.is_class:
            self._class(symbol, each, path)  # type: ignore[arg-type]  # the same
        else:
            self._attribute(symbol, each)  # type: ignore[arg-type]  # the same
        return symbol

    def _function(self, symbol: Symbol, function: griffe.Function) -> None:
        symbol.kind = "function"
        words = _decorators(function)
        labels = {"async": "async", "staticmethod": "static", "classmethod": "class", "abstractmethod": "abstract"}
        symbol.traits = frozenset(trait for label, trait in labels.items() if label in function.labels | words)
        symbol.traits |= {"context"} if words & _CONTEXT else frozenset()
        method = function.parent is not None and function.parent.is_class and "static" not in symbol.traits
        forms = function.overloads or [function]
        symbol.calls = tuple(_call(form, method=method) for form in forms)
        symbol.body = _call(function, method=method) if function.overloads else None
        symbol.traits |= {"implicit"} if symbol.name in _MAKERS else frozenset()
        if symbol.name.startswith("__") and symbol.name not in {"__init__", "__new__", "__call__"}:
            symbol.calls = ()  # Python fixes how it is called
        symbol.text = _call(function, method=method).text

    def _attribute(self, symbol: Symbol, attribute: griffe.Attribute) -> None:
        symbol.type = str(attribute.annotation or "")
        symbol.value = _literal(attribute.value)
        symbol.text = f"{symbol.name}: {symbol.type}" if symbol.type else symbol.name
        if "property" in attribute.labels or "cached" in attribute.labels:
            symbol.kind = "property"
            symbol.traits = frozenset({"writable"} & attribute.labels)
            symbol.traits |= {"writable"} if "cached" in attribute.labels else frozenset()
        elif attribute.value is not None and not symbol.value:
            symbol.traits = frozenset({"open", "writable"})  # a call, a name: whatever it makes
        else:
            symbol.traits = frozenset({"writable"})

    def _class(self, symbol: Symbol, cls: griffe.Class, path: str) -> None:
        bases = [str(base).partition("[")[0].rpartition(".")[2] for base in cls.bases]
        symbol.kind = "class"
        symbol.bases = tuple(base for base in bases if base not in _UNIMPORTANT and not base.startswith("_"))
        symbol.derives = tuple(str(base).partition("[")[0] for base in cls.bases)
        hidden = [base for base in bases if base.startswith("_")]
        symbol.text = f"class {symbol.name}({', '.join(bases)})" if bases else f"class {symbol.name}"
        symbol.open = bool(OPEN_CLASS & cls.members.keys())
        for name, member in cls.members.items():
            if not member.is_alias and (name not in _SILENT or name in _MAKERS):
                symbol.members[name] = self._symbol(member, f"{path}.{name}")
        if set(bases) & _ENUMS:
            for each in symbol.members.values():
                each.kind = "member" if each.kind == "attribute" else each.kind
        else:
            self._fields(symbol, cls, bases)
        if "__init__" not in symbol.members:
            self._without_fields(symbol, cls, bases)
        for name in self.facts.stores.get(path, ()) - symbol.members.keys():
            symbol.members[name] = Symbol(name, "attribute", symbol.line, public=False, ambiguous=True)
        for base in hidden:  # a private base is no promise, what it brings is
            here = self.module.members.get(base)
            if here is not None and not here.is_alias and here.is_class and here is not cls:
                for name, inherited in self._symbol(here, base).members.items():
                    symbol.members.setdefault(name, inherited)

    def _without_fields(self, symbol: Symbol, cls: griffe.Class, bases: list[str]) -> None:
        for member in symbol.members.values():
            if "class-attribute" in getattr(cls.members.get(member.name), "labels", ()) and member.kind == "attribute":
                member.traits |= {"valued"}
        if not (bases or cls.decorators or cls.keywords or "__new__" in symbol.members):
            maker = Symbol(
                "__init__", "function", symbol.line, f"{cls.name}()", calls=(Call((), text=f"{cls.name}()"),)
            )
            maker.traits, maker.path = frozenset({"implicit"}), self.path
            symbol.members["__init__"] = maker

    def _inherited_fields(self, bases: list[str], cls: griffe.Class) -> list[Parameter] | None:
        """The fields that bases of the same file put in front; None where a base makes its `__init__` by hand."""
        found: list[Parameter] = []
        for base in bases:
            here = self.module.members.get(base)
            if here is None or here.is_alias or not here.is_class or here is cls:
                continue
            maker = self._symbol(here, base).members.get("__init__")
            if maker is None or (maker.calls[0].parameters and "fields" not in maker.traits):
                return None
            found += maker.calls[0].parameters
        return [each for each in found if each.name not in cls.members]

    def _fields(self, symbol: Symbol, cls: griffe.Class, bases: list[str]) -> None:
        """Classes that make their `__init__` from their fields: the fields are parameters."""
        words = _decorators(cls)
        made = "__init__" not in cls.members and bool(words & _FIELDS or {"NamedTuple", "TypedDict"} & set(bases))
        model = "BaseModel" in bases or "BaseSettings" in bases or "Struct" in bases
        if not (made or model):
            return
        options = " ".join(str(each.value) for each in cls.decorators)
        keyword = model or "TypedDict" in bases or "kw_only=True" in options
        total = str(cls.keywords.get("total", "True")) != "False"
        parameters = self._inherited_fields(bases, cls)
        if parameters is None:
            return
        for name, member in cls.members.items():
            if member.is_alias or not member.is_attribute or "property" in member.labels or _no_field(member):
                continue
            given = member.value  # type: ignore[union-attr]  # an attribute
            text = "" if given is None else str(given)
            required = (given is None or _is_required(text)) and (total or "TypedDict" not in bases)
            if "init=False" in text.replace(" ", "") or (model and name.startswith("_")):
                continue
            kind = ParameterKind.KEYWORD if keyword or "kw_only=True" in text else ParameterKind.EITHER
            parameters.append(
                Parameter(name.lstrip("_") if words & _FIELDS - {"dataclass"} else name, kind, required=required)
            )
        call = Call(tuple(parameters), text=f"{cls.name}({', '.join(each.name for each in parameters)})")
        symbol.members["__init__"] = Symbol(
            "__init__",
            "function",
            symbol.line,
            call.text,
            calls=(call,),
            traits=frozenset({"implicit", "fields"}),
            path=self.path,
        )


def _no_field(member: griffe.Object | griffe.Alias) -> bool:
    annotation = str(getattr(member, "annotation", None) or "")
    labels = member.labels
    unannotated = not annotation and "attr" not in str(getattr(member, "value", None) or "")
    return unannotated or "ClassVar" in annotation or labels == {"class-attribute"}


def _is_required(value: str) -> bool:
    """Whether a field's specifier leaves it without a default: `Field(...)`, `field(repr=False)`, `attr.ib()`."""
    head, _, inside = value.partition("(")
    if head.rpartition(".")[2] not in {"Field", "field", "ib", "attrib"}:
        return False
    first = inside.split(",")[0].strip(" )")
    if head.endswith("Field") and first and "=" not in first:
        return first == "..."
    return not ("default" in inside or "factory" in inside)


def _decorators(each: griffe.Function | griffe.Class) -> set[str]:
    return {decorator.callable_path.rpartition(".")[2] for decorator in each.decorators}


def _literal(value: object) -> str:
    text = "" if value is None else str(value)
    try:
        return repr(ast.literal_eval(python_tree.expression(text))) if text else ""
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return ""


def _expression(value: object) -> str:
    """One spelling for each default."""
    text = "" if value is None else str(value)
    return text if text.isidentifier() or text.isdigit() else _spelled(text)


@functools.lru_cache(maxsize=1024)
def _spelled(text: str) -> str:
    try:
        return ast.unparse(python_tree.expression(text)) if text else ""
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return text


_KINDS = {
    "positional-only": ParameterKind.POSITIONAL,
    "positional or keyword": ParameterKind.EITHER,
    "keyword-only": ParameterKind.KEYWORD,
    "variadic positional": ParameterKind.REST,
    "variadic keyword": ParameterKind.KEYWORD_REST,
}


def _kind(parameter: griffe.Parameter) -> ParameterKind:
    kind = _KINDS[parameter.kind.value if parameter.kind else "positional or keyword"]
    old_style = parameter.name.startswith("__") and not parameter.name.endswith("__")  # PEP 484
    return ParameterKind.POSITIONAL if old_style and kind is ParameterKind.EITHER else kind


def _call(function: griffe.Function, *, method: bool) -> Call:
    parameters = [
        Parameter(
            each.name.lstrip("*"),
            _kind(each),
            required=each.required,
            default="" if each.required else _expression(each.default),
            type=str(each.annotation or ""),
        )
        for each in function.parameters
    ]
    bound = method and bool(parameters) and parameters[0].kind.positional
    returns = str(function.returns or "")
    visible = tuple(parameters[1:] if bound else parameters)
    return Call(visible, returns, f"{function.name}({_text(visible)}){f' -> {returns}' if returns else ''}")


def _text(parameters: tuple[Parameter, ...]) -> str:
    words, starred = [], False
    for number, each in enumerate(parameters):
        if each.kind is ParameterKind.KEYWORD and not starred:
            words.append("*")
            starred = True
        starred |= each.kind is ParameterKind.REST
        stars = {ParameterKind.REST: "*", ParameterKind.KEYWORD_REST: "**"}.get(each.kind, "")
        default = "" if each.required or stars else f"={each.default}"
        words.append(f"{stars}{each.name}{f': {each.type}' if each.type else ''}{default}")
        following = parameters[number + 1].kind if number + 1 < len(parameters) else None
        if each.kind is ParameterKind.POSITIONAL and following is not ParameterKind.POSITIONAL:
            words.append("/")
    return ", ".join(words)
