"""Finds Python functions without an implementation by syntax tree, and excuses the rightly empty ones."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmgate.gates.placeholders import python_shapes, wording
from swarmgate.gates.placeholders.function_bodies import Function, Step
from swarmgate.gates.source import python_tree
from swarmgate.gates.source.comments import Remark

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Definition = ast.FunctionDef | ast.AsyncFunctionDef

_DECLARATIONS = {
    "abstractmethod", "abstractproperty", "abstractclassmethod", "abstractstaticmethod", "abstract", "overload",
    "singledispatch", "singledispatchmethod", "type_check_only", "deferred", "optional_abstract_method",
    "callback", "group", "hookspec",  # click, typer, pluggy: the decorator does the work
}  # fmt: skip
_ABSTRACT_BASES = {"Protocol", "ABC", "ABCMeta", "Interface", "GenericABC"}
_BASE_NAME = re.compile(r"^_*(?:Abstract|Base[A-Z]|I[A-Z][a-z])|(?:Base|Abstract|Interface|ABC)\d*$")
_BASE_DOC = re.compile(
    r"^\W*(?:(?:this|it|the)\s+)?(?:is\s+)?(?:an?\s+|the\s+)?(?:\w+\s+){0,2}(?:abstract|base[- ]?class"
    r"|interface|mixin interface)\b"
    r"|\babstract (?:base )?class (?:for|of|that|to|which)\b|\b(?:generic|common|shared) base\b|\bto be sub-?classed\b"
    r"|\bsub-?classes (?:should|must|may|can|need|will|have|are expected|override|implement|define|provide)\b",
    re.IGNORECASE,
)
_HOOK_NAME = re.compile(
    r"^_?(?:on_|on[A-Z]|visit_|depart_|leave_|pre_|post_|before_|after_)|^(?:__exit__|__aexit__|__enter__|__del__"
    r"|__init_subclass__|__post_init__|flush|close|setUp|tearDown|setup|teardown|setUpClass|tearDownClass)$"
)
_DOES = (
    "add|append|attach|bind|call|clear|connect|create|dispatch|execute|fire|get|handle|install|invoke|load|make|notify"
    "|process|register|remove|run|set|subscribe|trigger|unregister|wrap"
)
_CALLED_NAME = re.compile(rf"^(?!_*(?:{_DOES})_)\w*_(?:hook|callback|listener)$")
_CALLED_DOC = re.compile(
    rf"^\W*+(?!(?:{_DOES})(?:s|es)?\b)[\s\S]*?(?:"
    r"\b(?:called|invoked|fired|triggered)\s+(?:\w+\s+){0,2}?(?:by|when(?:ever)?|before|after|once|on|if|each|every|at"
    r"|during|as|just|right|immediately)\b|\bhooks?\b|\bcallback\b|\b(?:event|error) handler\b"
    r"|\bhandler (?:function|method)\b|\boverridden\b|\boverridable\b|\b(?:to|can|may) override\b"
    r"|\bextension point\b)",
    re.IGNORECASE,
)
_TALKERS = re.compile(r"^(?:print|log|logger|logging|_log|_logger|LOG|LOGGER|warnings|click|console|sys|time|asyncio)$")
_SAYING = {
    "print",
    "debug",
    "info",
    "warning",
    "warn",
    "error",
    "critical",
    "exception",
    "log",
    "echo",
    "sleep",
    "write",
}
_BUILDERS = {
    "dict", "list", "set", "tuple", "frozenset", "str", "int", "float", "bool", "bytes", "bytearray", "object", "iter",
    "defaultdict", "OrderedDict", "Counter", "deque", "SimpleNamespace", "Decimal",
}  # fmt: skip
_TEST_NAME = re.compile(r"^test(?:_|[A-Z])")
_MAX_STEPS = 6
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


@dataclass(frozen=True, slots=True)
class Survey:
    """The facts that one walk over a module's statements collects.

    `functions`: with the class whose method each is, and whether it stands in a function; left out is what only the
    type checker sees, and what stands in for a module that is not installed. `gaps`: lines of `...` statements between
    others in a function. `texts`: docstrings, and strings that stand where a docstring could.
    """

    functions: list[tuple[Definition, ast.ClassDef | None, bool]]
    classes: list[ast.ClassDef]
    gaps: list[int]
    texts: list[ast.Constant]
    tree: ast.Module


def survey(tree: ast.Module) -> Survey:
    """Walk the statements of a module, and nothing below them: depth is that of the blocks."""
    seen = Survey([], [], [], [], tree)
    pending: list[tuple[ast.AST, ast.ClassDef | None, bool, bool]] = [(tree, None, False, False)]
    while pending:
        node, owner, inside, apart = pending.pop()
        apart = apart or _stands_in(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            if not apart:
                seen.functions.append((node, owner, inside))
            owner, inside = None, True
        elif isinstance(node, ast.ClassDef):
            seen.classes.append(node)
            owner, inside = node, False
        checked = isinstance(node, ast.If) and _last_name(node.test) == "TYPE_CHECKING"
        for name in _BLOCKS:
            block = getattr(node, name, None)
            if isinstance(block, list):  # a lambda's body is an expression
                unseen = apart or (checked and name == "body")
                pending += [(child, owner, inside, unseen) for child in block if not _is_text(child, seen.texts)]
                if inside and len(block) > 1:
                    _note_gaps(block, seen.gaps)
    return seen


def _note_gaps(block: Sequence[ast.AST], gaps: list[int]) -> None:
    statements = [item for item in block if isinstance(item, ast.stmt)]
    dots = [item.lineno for item in statements if _is_dots(item)]
    if dots and len(_without_texts(statements)) > 1:
        gaps += dots


def _stands_in(node: ast.AST) -> bool:
    return isinstance(node, ast.ExceptHandler) and _last_name(node.type) in {"ImportError", "ModuleNotFoundError"}


def docstrings(seen: Survey) -> list[Remark]:
    """The lines of every docstring."""
    # A continued or escaped line break shifts later lines by one: near enough for a place.
    return [
        Remark(line, text.strip(), docstring=True)
        for constant in sorted(seen.texts, key=lambda constant: constant.lineno)
        for line, text in enumerate(str(constant.value).split("\n"), constant.lineno)
        if text.strip()
    ]


def _is_text(node: ast.AST, texts: list[ast.Constant]) -> bool:
    found = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
    if found:
        texts.append(node.value)  # type: ignore[attr-defined]  # narrowed above
    return found


def functions(seen: Survey, remarks: Mapping[int, str], *, tests: bool) -> Iterator[Function]:
    """Every function of a module that does no work of its own.

    Args:
        seen: the module.
        remarks: the comments by line.
        tests: whether this is a file of tests.
    """
    for node, owner, nested in seen.functions:
        body = _without_texts(node.body)
        if len(body) > _MAX_STEPS:
            continue
        if body and isinstance(body[-1], ast.Return):  # else imports may be all that there is to do
            body = [each for each in body if not isinstance(each, ast.Import | ast.ImportFrom)]
        steps = _steps(body)
        if body and steps[-1] is Step.REAL and python_shapes.copies(body[-1], node):
            steps[-1] = Step.COPIES
        if Step.REAL in steps or _declared(node):
            continue
        doc = ast.get_docstring(node) or ""
        test = tests and not nested and bool(_TEST_NAME.match(node.name)) and not node.decorator_list
        inside = _inside(node, remarks)
        yield Function(
            name=node.name,
            line=node.lineno,
            steps=tuple(steps),
            comments=inside,
            above=_above(node, remarks),
            doc=doc,
            promises=_promises(node),
            excused=not test and _excused(node, owner, steps, f"{doc}\n{inside}", seen.classes),
            test=test,
            hook=owner is not None and bool(doc) and _may_be_empty(node, doc),
            shape=python_shapes.shape_of(node, owner, seen.tree, body, _printed(body, steps)),
        )


def _steps(body: Sequence[ast.stmt]) -> list[Step]:
    made: set[str] = set()
    return [_step(statement, made) for statement in body]


def _step(statement: ast.stmt, made: set[str]) -> Step:  # noqa: C901, PLR0912 - one row a kind of statement
    match statement:
        case ast.Pass():
            return Step.NOTHING
        case ast.Try(body=[*tried], handlers=handlers, orelse=[], finalbody=[]) if handlers:
            return Step.NOTHING if {_step(each, made) for each in tried} == {Step.NOTHING} else Step.REAL
        case ast.Delete(targets=targets) if all(isinstance(target, ast.Name) for target in targets):
            return Step.NOTHING  # `del argument`: a way to say that it is not used
        case ast.Expr(value=ast.Constant(value=value)):
            return Step.DOTS if value is ... else Step.NOTHING
        case ast.Raise(exc=raised) if raised is not None:
            return Step.SAYS_SO if _refuses(raised) else Step.REAL
        case ast.Assert(test=ast.Constant(value=held), msg=message):
            return Step.NOTHING if held else _raised_step(message)
        case ast.Expr(value=value):
            return _call(value)
        case ast.Return(value=None):
            return Step.CANNED
        case ast.Return(value=ast.Name(id=name)):
            return Step.CANNED if name in made else Step.ECHOES
        case ast.Return(value=value) if value is not None:
            if isinstance(value, ast.Await | ast.Call) and _call(value) is Step.SAYS_SO:
                return Step.SAYS_SO
            return Step.CANNED if _constant(value) else Step.REAL
        case (
            ast.Assign(targets=[ast.Name(id=name)], value=value) | ast.AnnAssign(target=ast.Name(id=name), value=value)
        ) if value is not None:
            if name == "_" or _constant(value):
                made.add(name)
                return Step.NOTHING if name == "_" else Step.CANNED
    return Step.REAL


def _refuses(raised: ast.expr) -> bool:
    name = _last_name(raised)
    if name in {"NotImplementedError", "NotImplemented"}:
        return True
    messages = [*_texts(raised)]
    return any(wording.not_implemented(text) for text in messages)


def _raised_step(message: ast.expr | None) -> Step:
    return Step.SAYS_SO if message is not None and any(map(wording.not_implemented, _texts(message))) else Step.REAL


def _printed(body: Sequence[ast.stmt], steps: Sequence[Step]) -> str | None:
    """What the statements of a body print or log; None where none of them does."""
    texts = [text for each, step in zip(body, steps, strict=True) if step is Step.TALKS for text in _texts(each)]
    return " ".join(texts) if Step.TALKS in steps else None


def _call(value: ast.expr) -> Step:
    call = value.value if isinstance(value, ast.Await) else value
    if not isinstance(call, ast.Call):
        return Step.REAL
    if any(wording.not_implemented(text) for text in _texts(call)) and len(call.args) + len(call.keywords) <= 3:  # noqa: PLR2004
        return Step.SAYS_SO
    if any(isinstance(part, ast.Call | ast.comprehension) for part in python_tree.walk(call) if part is not call):
        return Step.REAL
    root: ast.expr = call.func
    while isinstance(root, ast.Attribute | ast.Call):
        root = root.value if isinstance(root, ast.Attribute) else root.func
    last = _last_name(call.func)
    talks = (
        last in _SAYING and isinstance(root, ast.Name) and (bool(_TALKERS.match(root.id)) or root.id in {"self", "cls"})
    )
    return Step.TALKS if talks else Step.REAL


def _texts(node: ast.AST) -> Iterator[str]:
    """The short strings directly in a call's arguments, f-strings and concatenations included."""
    for part in python_tree.walk(node):
        if isinstance(part, ast.Constant) and isinstance(part.value, str) and len(part.value) < 200:  # noqa: PLR2004
            yield part.value


def _constant(value: ast.expr) -> bool:
    """Whether an expression is made of constants only; constructors (a capital, or `dict()`) of constants count."""
    for part in python_tree.walk(value):
        if isinstance(part, ast.Call):
            name = _last_name(part.func)
            if name not in _BUILDERS and not name[:1].isupper():
                return False
        elif isinstance(part, ast.Name):
            if part.id not in _BUILDERS and not part.id[:1].isupper():
                return False
        elif isinstance(part, ast.Await | ast.Yield | ast.YieldFrom | ast.comprehension | ast.NamedExpr | ast.Lambda):
            return False
    return True


def _declared(function: Definition) -> bool:
    return any(_last_name(decorator) in _DECLARATIONS for decorator in function.decorator_list)


def _excused(
    function: Definition, owner: ast.ClassDef | None, steps: Sequence[Step], text: str, classes: Sequence[ast.ClassDef]
) -> bool:
    if Step.SAYS_SO in steps:
        return _refusal_excused(function, owner, steps, text, classes)
    if not set(steps) <= {Step.NOTHING, Step.DOTS}:
        return False  # canned results are only asked about where a comment speaks of a stub
    return _emptiness_excused(function, owner, classes, dots=Step.DOTS in steps)


def _emptiness_excused(
    function: Definition, owner: ast.ClassDef | None, classes: Sequence[ast.ClassDef], *, dots: bool
) -> bool:
    """Whether a body without any work is what the function's or its class's name and kind promise."""
    if wording.no_op_name(function.name) or (owner is not None and wording.no_op_name(owner.name)):
        return True
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    if arguments.vararg and arguments.kwarg and len(named) <= (owner is not None):
        return True  # takes anything and does nothing: a callback
    if owner is None:
        return False
    if _is_abstract(owner):
        return True
    if function.name == "__init__":
        return len(named) <= 1
    if dots or _promises(function):
        return False
    if _HOOK_NAME.match(function.name):
        return True
    return not function.name.startswith("__") and (_is_base(owner) or _overridden(function.name, owner.name, classes))


def _may_be_empty(method: Definition, doc: str) -> bool:
    """Whether a documented method is called by somebody else, by its name and what is said of it."""
    matched = _CALLED_NAME.search(method.name) or _CALLED_DOC.match(doc.partition("\n\n")[0].lstrip())
    return bool(matched) and not method.name.startswith("__") and not method.decorator_list and not _promises(method)


def _refusal_excused(
    function: Definition, owner: ast.ClassDef | None, steps: Sequence[Step], text: str, classes: Sequence[ast.ClassDef]
) -> bool:
    """Whether a body that only refuses leaves the work to subclasses, or refuses for good."""
    body = _without_texts(function.body)
    idiom = len(steps) == 1 and isinstance(body[0], ast.Raise) and _last_name(body[0].exc) == "NotImplementedError"
    if any(wording.by_design(each) for item in body for each in _texts(item)) or (idiom and wording.refused(text)):
        return True
    if owner is None or not idiom or function.name == "__init__":
        return False
    return _is_abstract(owner) or _is_base(owner) or _overridden(function.name, owner.name, classes)


def _is_base(owner: ast.ClassDef) -> bool:
    """Whether a class is made to be derived from, by its name or the first paragraph of its docstring."""
    story = (ast.get_docstring(owner) or "").partition("\n\n")[0]
    return bool(_BASE_NAME.search(owner.name) or _BASE_DOC.search(story))


def _is_abstract(owner: ast.ClassDef) -> bool:
    bases = [*owner.bases, *(keyword.value for keyword in owner.keywords if keyword.arg == "metaclass")]
    return any(_last_name(base) in _ABSTRACT_BASES for base in bases)


def _promises(function: Definition) -> bool:
    """Whether the annotation or the documentation speaks of a result."""
    returns = function.returns
    if returns is not None:
        void = isinstance(returns, ast.Constant) and returns.value is None
        return not void and _last_name(returns) not in {"None", "NoReturn", "Never", "Any"}
    doc = ast.get_docstring(function) or ""
    return bool(re.search(r"^\s*(?:returns?\b|:returns?:|:rtype:|yields?\b)", doc, re.IGNORECASE | re.MULTILINE))


def _above(function: Definition, remarks: Mapping[int, str]) -> str:
    """The comments that stand right above a function."""
    line = min([function.lineno, *(decorator.lineno for decorator in function.decorator_list)]) - 1
    found = []
    while line in remarks:
        found.append(remarks[line])
        line -= 1
    return "\n".join(reversed(found))


def _inside(function: Definition, remarks: Mapping[int, str]) -> str:
    lines = set(range(function.lineno, (function.end_lineno or function.lineno) + 1))
    for statement in function.body:  # remarks on the rows of a table are not about the function
        lines -= set(range(statement.lineno + 1, statement.end_lineno or 0))
    return "\n".join(remarks[line] for line in sorted(lines) if line in remarks)


def _overridden(method: str, owner: str, classes: Sequence[ast.ClassDef]) -> bool:
    """Whether a subclass in the same module gives the method a body: the base's is a declaration."""
    return any(
        isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef) and item.name == method
        and not set(_steps(_without_texts(item.body))) & {Step.SAYS_SO, Step.DOTS}
        for each in classes if any(_last_name(base) == owner for base in each.bases)
        for item in each.body
    )  # fmt: skip


def _without_texts(body: Sequence[ast.stmt]) -> list[ast.stmt]:
    return [item for item in body if not _is_text(item, [])]


def _is_dots(statement: ast.stmt) -> bool:
    return (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant) and statement.value.value is ...
    )


def _last_name(node: ast.AST | None) -> str:
    """The last part of `a.b.c`, `c[T]`, `c(...)`; empty for anything else."""
    while isinstance(node, ast.Subscript | ast.Call):
        node = node.value if isinstance(node, ast.Subscript) else node.func
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""
