"""Finds code that changes what a test runner runs or reports: pytest hooks, `TestMain`, runner globals."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from swarmgate.gates.project.files import Trait, language_of, traits_of
from swarmgate.gates.source import grammar_tree
from swarmgate.gates.source.grammar_nodes import child, line, name, named, text
from swarmgate.gates.test_integrity.collection import is_collected
from swarmgate.gates.test_integrity.suites.model import Rule, Weakening
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node

    from swarmgate.gates.test_integrity.change import File

LANGUAGES = frozenset({"python", "javascript", "typescript", "go", "java", "rust"})

_ENDS = re.compile(
    r"(?:raise\s+)?(?:[\w.]+\.exitstatus\s*=(?!=)|SystemExit\(\s*0?\s*\)|sys\.exit\(\s*0?\s*\)|pytest\.exit\(|os\._exit\(\s*0)"
)
"""Statements that end a run as if all were well."""

_REPORTS = re.compile(
    r"\.outcome\s*=(?!=)|\.wasxfail\s*=|\bforce_result\(|\.excinfo\s*=\s*None|\bcall\.excinfo\b.*=\s*None|\.longrepr\s*=\s*None|\.passed\s*=\s*True"
)
_DESELECTS = re.compile(
    r"\.add_marker\(|\bitems\[:\]\s*=|\bitems\.(?:clear|remove|pop)\(|\bdel\s+items\b|\bdeselected\(|\breturn\s+True\b|(?:\bpytest\.(?:skip|xfail)|\bself\.skipTest)\("
)
_MARKS_OFF = re.compile(r"skip|xfail")
_CONDITION = re.compile(
    r"getoption|getvalue|getini|\bsys\.|platform|os\.name|environ|getenv|version|which|find_spec|keywords|get_closest_marker|iter_markers"
    r"|\b_?(?:HAS|HAVE|IS|WITH|RUN|NO|ON|CI)_\w+|\b_?(?:has|have|is)_\w+|importlib|not_available|available|enabled|supported",
)
_ANY_CONDITION = re.compile(
    r"\A(?!\s*\(?(?:True|1)\)?\s*$)(?![\s\S]*(?:\bnode\.name|\.nodeid|\.originalname|_testMethodName|\bitem\.name)\b)"
)
"""Any but a constant, or the name of the test."""

_IGNORES = re.compile(r"^collect_ignore(?:_glob)?$")
_SETUP = re.compile(r"^(?:setUp(?:Class|Module)?|setup_(?:module|class|method|function))$")
_EMPTY = re.compile(r"[\[(]\s*[\])]|None")
_ALWAYS_EQUAL = re.compile(r"^\s*return (?:True|NotImplemented and True)\s*$")
_SCRIPTS = re.compile(
    r"\bprocess\.exit\(\s*0?\s*\)|\bprocess\.exitCode\s*=\s*0|\b(?:global|globalThis|window)\.(?:it|test|describe|expect)\s*="
    r"|\b(?:it|test|describe)\s*=\s*(?:it|test|describe|\w+)\.skip\b"
)
_JAVA = re.compile(
    r"\bSystem\.exit\(\s*0\s*\)|\bimplements\b[^{]*\b(?:TestExecutionExceptionHandler|InvocationInterceptor|IHookable)\b"
)
_RUST = re.compile(r"\bprocess::exit\(\s*0\s*\)")


def found(file: File) -> Iterator[Weakening]:
    """The new code in a changed file that alters the test runner's behaviour."""
    language, tests = language_of(file.path), Trait.TEST in traits_of(file.path)
    if language == "python":
        if tests or re.search(r"(?:^|/)(?:sitecustomize|usercustomize|\w*plugin\w*)\.py$", file.path):
            yield from _python(file)
        elif b"__eq__" in file.new:
            yield from _equal_to_all(file)
    elif tests and language == "go":
        yield from _go(file)
    elif tests and (is_collected(file.path) or re.search(r"setup|global|hook|runner|env", file.path)):
        pattern = {"java": _JAVA, "rust": _RUST}.get(language, _SCRIPTS)
        yield from _lines(file, pattern)
        if language in {"javascript", "typescript"} and file.old:
            yield from _mocked(file)


_VALUES = frozenset({"int", "float", "complex", "str", "bytes", "tuple", "list", "dict", "set", "frozenset", "Decimal"})
_SELF = re.compile(r"type\(\s*self\s*\)|self\.__class__|\"\"\"[\s\S]*?\"\"\"|#[^\n]*")
"""What says nothing of an object's state."""


def _equal_to_all(file: File) -> Iterator[Weakening]:
    """New `__eq__` of objects with a state that do not look at it: they equal whatever a test expects."""
    old = file.old.decode("utf-8", "replace")
    for node in grammars.walk(grammar_tree.parse(file.new, "python").root_node):
        if node.type != "class_definition" or text(node) in old:
            continue
        bases = set(re.findall(r"\w+", text(child(node, "superclasses"))))
        if not (bases & _VALUES or re.search(r"\bself\.\w+\s*(?::[^=\n]+)?=(?!=)", text(node))):
            continue
        for each in named(child(node, "body") or node, "function_definition"):
            body = text(child(each, "body"))
            if name(each) == "__eq__" and body not in old and not re.search(r"\bself\b|\bsuper\(", _SELF.sub("", body)):
                message = (
                    f"`{name(node)}` equals whatever it is compared with: its `__eq__` looks at nothing of its own"
                )
                yield Weakening(Rule.HOOK, file.path, line(each), "", message)


_MOCK = re.compile(r"\b(?:jest|vi)\.(?:doMock|mock|unstable_mockModule)\(\s*([\"'][^\"']+[\"'])")


def _mocked(file: File) -> Iterator[Weakening]:
    """Modules that a file newly replaces, and whose functions its assertions called before."""
    old, new = (each.decode("utf-8", "replace") for each in (file.old, file.new))
    for match in _MOCK.finditer(new):
        module = re.escape(match[1][1:-1])
        if re.search(rf"[mM]ock(?:Module)?\(\s*[\"']{module}[\"']", old):
            continue
        taken = re.search(
            rf"(?:import|const|let|var)\s+([\w\s,{{}}*$]+?)\s*(?:from\s*|=\s*require\()[\"']{module}[\"']", old
        )
        names = re.findall(r"[\w$]+", taken[1]) if taken else []
        tested = next((each for each in names if re.search(rf"\bexpect\([^;]*?\b{re.escape(each)}\s*\(", old)), "")
        if tested:
            text = f"the module of `{tested}`, which the tests assert on, is replaced by a double"
            yield Weakening(
                Rule.MOCKED, file.path, new.count("\n", 0, match.start()) + 1, "", text, frozenset({tested})
            )


def _lines(file: File, pattern: re.Pattern[str]) -> Iterator[Weakening]:
    known = Counter(file.old.decode("utf-8", "replace").split("\n"))
    for number, each in enumerate(file.new.decode("utf-8", "replace").split("\n"), 1):
        if pattern.search(each) and not known[each] and not each.lstrip().startswith(("//", "*")):
            yield _made(file, number, each.strip())


def _made(file: File, number: int, reason: str) -> Weakening:
    return Weakening(Rule.HOOK, file.path, number, "", f"the result of the tests is changed here: `{reason[:80]}`")


def _go(file: File) -> Iterator[Weakening]:
    main = re.search(r"func TestMain\(\s*(\w+)[^{]*\{[\s\S]*?^\}", file.new.decode("utf-8", "replace"), re.MULTILINE)
    if main is None or main[0].encode() in file.old:
        return
    given = re.search(rf"os\.Exit\(\s*(?:{main[1]}\.Run\(\)|[a-z]\w*)\s*\)", main[0])
    ends = re.search(r"os\.Exit\(\s*0\s*\)", main[0])
    runs = f"{main[1]}.Run()" in main[0]
    ignored = re.search(rf"^\s*(?:_\s*=\s*)?{main[1]}\.Run\(\)", main[0], re.MULTILINE)
    if (ends and not given) or not runs or (ignored and ends):
        number = file.new.decode("utf-8", "replace").count("\n", 0, main.start()) + 1
        yield _made(file, number, (ends or main)[0].split("\n")[0])


def _python(file: File) -> Iterator[Weakening]:
    if not re.search(
        rb"pytest_|collect_ignore|exitstatus|_exit|autouse|__eq__|[Ss]et_?[Uu]p|SystemExit|sys\.exit", file.new
    ):
        return
    old = {text(each) for each in _statements(file.old)} if file.old else set()
    for node in _statements(file.new):
        if text(node) not in old:
            yield from _statement(file, node, old)


def _statements(content: bytes) -> Iterator[Node]:
    """The functions, classes and assignments of a module, wherever they stand."""
    for node in grammars.walk(grammar_tree.parse(content, "python").root_node):
        if node.type in {"function_definition", "assignment", "augmented_assignment", "call"}:
            yield node


def _statement(file: File, node: Node, old: set[str]) -> Iterator[Weakening]:
    if node.type == "assignment":
        if (
            _IGNORES.match(text(child(node, "left")))
            and not _EMPTY.fullmatch(text(child(node, "right")))
            and not _guard(node)
        ):
            yield _made(file, line(node), text(node))
    elif node.type == "function_definition":
        if name(node) == "__eq__" and _ALWAYS_EQUAL.match(text(child(node, "body"))):
            yield _made(file, line(node), "def __eq__(...): return True")
        if name(node).startswith("pytest_") or _SETUP.match(name(node)) or _everywhere(node):
            yield from _hook(file, node, old)
    elif (_ENDS.match(text(node)) and _runs_by_itself(file, node)) or (
        re.match(r"collect_ignore(?:_glob)?\s*(?:\+=|\.(?:append|extend|insert)\()", text(node)) and not _guard(node)
    ):
        yield _made(file, line(node), text(node))


def _hook(file: File, function: Node, old: set[str]) -> Iterator[Weakening]:
    """The statements of a hook that end a run, rewrite a report, or take tests out of it."""
    for node in grammars.walk(child(function, "body") or function):
        if node.type not in {"expression_statement", "return_statement", "delete_statement", "assignment", "call"}:
            continue
        code = text(node)
        if code in old and any(code in each for each in old if each != code and name(function) in each):
            continue
        takes = _DESELECTS.search(code) and (
            "return True" not in code or name(function) == "pytest_ignore_collect"
        ) and (".add_marker(" not in code or _MARKS_OFF.search(text(function)))  # fmt: skip
        guarded = _guard(node, any_condition=not name(function).startswith("pytest_"))
        if _ENDS.match(code) or _REPORTS.search(code) or (takes and not guarded):
            yield _made(file, line(node), code.split("\n")[0])
            return


def _everywhere(function: Node) -> bool:
    """Whether a function is a fixture that every test gets."""
    above = function.parent
    return above is not None and any(re.search(r"autouse\s*=\s*True", text(each)) for each in named(above, "decorator"))


_CONDITIONAL = frozenset({"if_statement", "elif_clause", "conditional_expression"})


def _runs_by_itself(file: File, node: Node) -> bool:
    """Whether a statement runs when a runner imports the file, and not only when the file is a program."""
    above = node.parent
    while above is not None:
        if above.type == "function_definition":
            return False
        if above.type == "if_statement" and "__main__" in text(child(above, "condition")):
            return False
        above = above.parent
    return is_collected(file.path) or file.path.endswith(("conftest.py", "customize.py", "__init__.py"))


def _guard(node: Node, *, any_condition: bool = False) -> bool:
    """Whether a statement depends on the machine, the version, or an option of the command line.

    `any_condition`: or on anything else, but a constant: what sets tests up looks at what it finds.
    """
    depends = _ANY_CONDITION if any_condition else _CONDITION
    above = node.parent
    while above is not None and above.type != "function_definition":
        if above.type in _CONDITIONAL and depends.search(text(child(above, "condition"))):
            return True
        if above.type == "except_clause":
            return True
        above = above.parent
    before = node.parent
    while before is not None and before.type != "function_definition":
        before = before.parent
    early = child(before, "body") if before is not None else None
    return early is not None and any(
        each.type == "if_statement"
        and "return" in text(child(each, "consequence"))
        and _CONDITION.search(text(child(each, "condition")))
        for each in early.named_children
        if each.end_byte <= node.start_byte
    )
