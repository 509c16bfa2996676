"""Recognises skipped and disabled tests, by decorators, calls and early exits."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from swarmgate.gates.source.grammar_nodes import child, named, text

if TYPE_CHECKING:
    from tree_sitter import Node


@dataclass(frozen=True, slots=True)
class Switch:
    """`off`: what skips a test always; `guarded`: what skips it on a condition."""

    off: str = ""
    guarded: str = ""

    def over(self, inner: Switch) -> Switch:
        """Combine both switches."""
        return Switch(self.off or inner.off, self.guarded or inner.guarded)


_ALWAYS = r"True|true|1|\"[^\"]*True[^\"]*\"|not False|1 == 1|0 == 0"
_NEVER = r"False|false|0|not True"
_HEADS = {
    "python": (
        re.compile(
            rf"@(?:[\w.]+\.)?(?:skip(?!if|If|Unless)\b|expectedFailure\b|xfail(?:\((?:\s*reason|\s*strict|\s*raises|\s*run|\s*\)|\s*\"|\s*')|\s*$)"
            rf"|skip[iI]f\(\s*(?:{_ALWAYS})\s*[,)]|xfail\(\s*(?:{_ALWAYS})\s*[,)]|skipUnless\(\s*(?:{_NEVER})\s*[,)])",
            re.MULTILINE,
        ),
        re.compile(r"@(?:[\w.]+\.)?(?:skip[iI]f|skipUnless|xfail)\("),
    ),
    "rust": (
        re.compile(r"#\[\s*ignore\b|#\[\s*cfg\(\s*(?:any\(\s*\)|FALSE|false|not\(\s*(?:test|all\(\s*\))\s*\))\s*\)|#\[\s*cfg_attr\(\s*(?:all\(\s*\)|test|not\(any\(\)\))\s*,\s*ignore"),
        re.compile(r"#\[\s*cfg_attr\([^\]]*\bignore|#\[\s*cfg\((?!\s*test\s*\))"),
    ),
    "java": (
        re.compile(r"@(?:[\w.]+\.)?(?:Disabled|Ignore)(?!\w)|@(?:[\w.]+\.)?Test\([^)]*enabled\s*=\s*false"),
        re.compile(r"@(?:[\w.]+\.)?(?:Disabled|Enabled)\w+\("),
    ),
}  # fmt: skip
_STATEMENTS = {
    "python": re.compile(
        r"(?:pytest\.)?(?:skip|xfail)\(|self\.skipTest\(|raise\s+(?:unittest\.)?SkipTest|pytestmark\s*=(?!.*skipif)[^\n]*\bmark\.(?:skip|xfail)\b"
        rf"|pytestmark\s*=[^\n]*\bskipif\(\s*(?:{_ALWAYS})\s*[,)]|__test__\s*=\s*False"
    ),
    "go": re.compile(r"(?:t|tb|b|s\.T\(\))\.Skip(?:Now|f)?\("),
    "java": re.compile(r"(?:\w+\.)*assum(?:e|ing)\w*\(\s*(?:true\s*==\s*)?false\b|(?:\w+\.)*assumeFalse\(\s*true\b"),
    "javascript": re.compile(r"(?:this|t|ctx|context|test|it)\.skip\("),
}
_GUARDS = {
    "python": re.compile(
        r"(?:pytest\.)?(?:skip|xfail|importorskip)\(|self\.skipTest\(|SkipTest|pytestmark\s*=[^\n]*skipif"
    ),
    "go": re.compile(r"(?:t|tb|b)\.Skip(?:Now|f)?\("),
    "java": re.compile(r"\bassum(?:e|ing)\w*\("),
    "javascript": re.compile(r"(?:this|t|ctx)\.skip\("),
}
_SPECIAL = re.compile(r"^//(?:go:build |\s*\+build )(.*)$", re.MULTILINE)
_PLATFORM = re.compile(
    r"^[!(\s]*(?:linux|windows|darwin|unix|freebsd|netbsd|openbsd|solaris|aix|plan9|js|wasip1|android|ios|cgo|race|msan|asan"
    r"|amd64|arm64|arm|386|ppc64\w*|s390x|riscv64|loong64|mips\w*|wasm|gc|gccgo|purego|appengine|go1\.\d+)\b"
)


def of_head(head: str, language: str) -> Switch:
    """How decorators, annotations and attributes skip a test."""
    always, sometimes = _HEADS.get(language, (None, None))
    found, guard = always and always.search(head), sometimes and sometimes.search(head)
    return Switch(found[0].strip() if found else "", guard[0].rstrip("( ") if guard and not found else "")


def of_statements(body: Node, language: str) -> Switch:
    """How the first statements of a body skip the test; a Python file is such a body, too."""
    kind = "javascript" if language == "typescript" else language
    always, guard = _STATEMENTS.get(kind), _GUARDS.get(kind)
    if (
        always is None
        or guard is None
        or (body.type != "module" and not guard.search(text(body)) and not always.search(text(body)))
    ):
        return Switch()
    sometimes = ""
    for each in (inner for part in named(body, "statement_list") or [body] for inner in named(part)):
        if each.type in {"expression_statement", "raise_statement", "assignment", "call"}:
            if always.match(text(each)):
                return Switch(text(each).split("\n")[0][:60])
            sometimes = sometimes or (text(each).split("\n")[0][:60] if guard.match(text(each)) else "")
        elif each.type == "if_statement" and guard.search(text(each)) and body.type != "module":
            condition = text(child(each, "condition")).strip("() ")
            if condition in {"True", "true", "1"}:
                return Switch(f"if {condition}")
            sometimes = sometimes or f"if {condition}"[:60]
        if each.type in {"function_definition", "class_definition"} and body.type != "module":
            break
    return Switch("", sometimes)


def of_generator(body: Node, head: str) -> Switch:
    """Whether a test of Python yields, with no decorator that would drive it: runners make it, and leave it."""
    waiting = [] if head else [body]
    while waiting:
        node = waiting.pop()
        if node.type == "yield":
            return Switch("it yields, and no runner goes through it")
        waiting += [each for each in node.named_children if each.type not in {"function_definition", "lambda"}]
    return Switch()


def of_go_file(content: str) -> Switch:
    """How the build constraint of a Go file skips its tests: by platform (a condition) or by tag (always)."""
    for match in _SPECIAL.finditer(content.partition("\npackage ")[0]):
        constraint = match[1].strip()
        if _PLATFORM.match(constraint) or constraint.startswith("!"):
            return Switch("", f"go:build {constraint}")
        return Switch(f"go:build {constraint}")
    return Switch()
