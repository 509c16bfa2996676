"""Finds the assertions in a test body, and whether each can fail, for five languages."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from swarmgate.gates.source.grammar_nodes import child, line, named, text
from swarmgate.gates.test_integrity.suites.strength import ASSERTS, Call, of_call, of_condition
from swarmgate.gates.test_integrity.suites.tokens import Tokens, bare, split, tokens
from swarmgate.workspace.code import grammars

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tree_sitter import Node

    from swarmgate.gates.test_integrity.suites.model import Assertion

_CALLS = frozenset({"call", "call_expression", "method_invocation", "macro_invocation"})
_BLOCKS = frozenset({"block", "statement_block", "statement_list", "module", "program"})
_ENDS = frozenset({"return_statement", "raise_statement", "throw_statement", "return_expression"})
_LIBRARIES = frozenset({"assert", "require", "should", "assertions", "Assertions", "Assert", "chai", "np", "testing"})
"""Whose methods assert, whatever their names."""

_FURTHER = re.compile(r"^(?:raises|warns|deprecated_call|fail|Fail|failTest)$|^should")
_TAP = frozenset({
    "is", "not", "deepEqual", "notDeepEqual", "equal", "equals", "same", "notSame", "ok", "notOk", "true", "false",
    "truthy", "falsy", "throws", "throwsAsync", "notThrows", "rejects", "regex", "like", "match", "error", "ifError",
    "strictEqual", "deepStrictEqual", "snapshot", "matchSnapshot", "pass", "fail",
})  # fmt: skip
_FAILS = re.compile(
    r"^(?:t|tb|b|s|suite)\.(?:Error|Errorf|Fatal|Fatalf|Fail|FailNow)$|^(?:panic|pytest\.fail|self\.fail|fail)$"
)
_CATCHES = re.compile(r"\b(?:AssertionError|Exception|BaseException|Throwable|Error|AssertionFailedError)\b")
_GIVES_ON = re.compile(
    r"\b(?:raise|throw|fail|done|reject|next|callback|cb|panic|exit|Fatal\w*|Error\w*\()|\bassert|\bexpect|\bshould\b|\bskip"
)
_NEVER = frozenset(
    {("False",), ("false",), ("0",), ("None",), ("null",), ("not", "True"), ("!", "true"), ("undefined",)}
)
_EMPTY = frozenset(
    {("[", "]"), ("(", ")"), ("{", "}"), ("range", "(", "0", ")"), ("set", "(", ")"), ("list", "(", ")")}
)
_TURNED = {"!=": "==", "==": "!=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_LATER = frozenset({"then", "finally", "setTimeout", "setImmediate"})
"""Calls whose functions run after the test has ended, where nothing waits for them."""

_WAITS = re.compile(r"Timers|\.tick\(|\bnew Promise\b|\bPromise\.all")
_LOGS_ONLY = "what fails there is caught"
_UNREACHED = "it is never reached"


def assertions(body: Node, language: str) -> Iterator[Assertion]:
    """Every assertion below a node, in the order of the source."""
    reader = _Reader(language, _values(body, language), text(body))
    yield from reader.walk(body, "")


class _Reader:
    """One body: its language, and what its names stand for."""

    def __init__(self, language: str, values: Mapping[str, Tokens], whole: str) -> None:
        self.language, self.values, self.whole = language, values, whole

    def walk(self, node: Node, idle: str) -> Iterator[Assertion]:
        """The assertions of a node; `idle` says why they cannot fail."""
        if node.type in _BLOCKS:
            yield from self._block(node, idle)
        elif node.type in {"try_statement", "try_expression"}:
            yield from self._try(node, idle)
        elif node.type in {"if_statement", "while_statement", "if_expression"}:
            yield from self._if(node, idle)
        elif node.type in {"for_statement", "for_in_statement", "for_expression"}:
            over = self.tokens(child(node, "right") or child(node, "value"))
            yield from self._inner(node, idle or ("it loops over nothing" if over in _EMPTY else ""))
        elif node.type == "with_statement" and _suppresses(node):
            yield from self._inner(node, idle or _LOGS_ONLY)
        elif node.type == "assert_statement":
            condition = named(node)[0] if named(node) else None
            yield from self._with_idle(of_condition(self.tokens(condition), line(node), self.values), idle)
        elif node.type in _CALLS:
            yield from self._call(node, idle)
        elif node.type == "expression_statement" and node.named_children and node.named_children[0].type in _MEMBERS:
            yield from self._property(node.named_children[0], idle)
        else:
            yield from self._inner(node, idle)

    def _inner(self, node: Node, idle: str) -> Iterator[Assertion]:
        for each in node.named_children:
            yield from self.walk(each, idle)

    def _block(self, node: Node, idle: str) -> Iterator[Assertion]:
        for each in node.named_children:
            yield from self.walk(each, idle)
            if self._leaves(each):
                idle = idle or "the test may end before it, on what the code gives"
            last = each.named_children[0] if each.type == "expression_statement" and each.named_children else each
            if last.type in _ENDS and node.type not in {"module", "program"}:
                idle = idle or _UNREACHED

    def _leaves(self, node: Node) -> bool:
        """Whether a statement only returns, on a condition about something that the body worked out."""
        if node.type == "expression_statement" and node.named_children:
            node = node.named_children[0]
        if node.type not in {"if_statement", "if_expression"} or child(node, "alternative") is not None:
            return False
        then = child(node, "consequence") or child(node, "body")
        returns = re.fullmatch(r"[{\s]*return(?:\s+(?:None|nil|undefined))?[;\s}]*", text(then))
        return bool(returns) and not self.values.keys().isdisjoint(self.tokens(child(node, "condition")))

    def _try(self, node: Node, idle: str) -> Iterator[Assertion]:
        handlers = [
            each for each in node.children if each.type in {"except_clause", "catch_clause", "except_group_clause"}
        ]
        caught = any(self._swallows(each) for each in handlers)
        for each in node.named_children:
            swallowed = caught and each.type not in {"except_clause", "catch_clause", "finally_clause", "else_clause"}
            yield from self.walk(each, idle or (_LOGS_ONLY if swallowed else ""))

    def _swallows(self, handler: Node) -> bool:
        body = child(handler, "body") or next((each for each in named(handler, "block")), None)
        if body is None or _GIVES_ON.search(text(body)):
            return False
        head = text(handler)[: body.start_byte - handler.start_byte]
        if self.language == "python":
            return head.strip(" :\n") == "except" or bool(
                re.search(r"\b(?:AssertionError|Exception|BaseException)\b", head)
            )
        return self.language != "java" or bool(
            re.search(r"\b(?:Throwable|Error|AssertionError|AssertionFailedError)\b", head)
        )

    def _if(self, node: Node, idle: str) -> Iterator[Assertion]:
        condition, then = child(node, "condition"), child(node, "consequence") or child(node, "body")
        found = bare(self.tokens(condition))
        never = "its condition never holds" if any(bare(each) in _NEVER for each in split(found, "and", "&&")) else ""
        fails = self.language == "go" and then is not None and _fails(then)
        if fails:
            yield from self._with_idle(of_condition(_turned(found), line(node), self.values), idle or never)
        for each in node.named_children:
            if each == then:
                inner = self.walk(each, idle or never) if not fails else iter(())
                yield from (_asked_before(one, found) for one in inner)
            elif each != condition or not fails:
                yield from self.walk(each, idle)

    def _call(self, node: Node, idle: str) -> Iterator[Assertion]:
        call = self._read(node)
        if call is not None and self._asserts(call):
            lost = "nothing waits for it" if self._unawaited(node, call) else ""
            yield from self._with_idle(of_call(call, self.language, self.values), idle or lost)
            for each in node.named_children:  # a function that is passed holds assertions of its own
                yield from self._passed(each, idle)
        else:
            inner = idle
            if call is not None and call.name == "forEach" and call.receiver in _EMPTY:
                inner = inner or "it loops over nothing"
            elif call is not None and call.name in _LATER and self._dropped(node) and not _WAITS.search(self.whole):
                inner = inner or "nothing waits for it"
            elif call is not None and call.name.endswith("catch_unwind"):
                inner = inner or _LOGS_ONLY
            yield from self._inner(node, inner)

    def _passed(self, node: Node, idle: str) -> Iterator[Assertion]:
        for each in node.named_children:
            if each.type in {"arrow_function", "function_expression", "lambda_expression", "func_literal", "lambda"}:
                yield from self.walk(each, idle)
            elif each.type in _CALLS or each.type in _MEMBERS:
                call = self._read(each) if each.type in _CALLS else None
                if call and self._asserts(call):
                    yield from self.walk(each, idle)
                else:
                    yield from self._passed(each, idle)
            elif each.type in {"arguments", "argument_list", "parenthesized_expression"}:
                yield from self._passed(each, idle)

    def _property(self, node: Node, idle: str) -> Iterator[Assertion]:
        """`expect(x).to.be.true`, `x.should.be.ok`: a statement that is no call."""
        if node.type == "member_expression" and re.match(r"expect\(|should\(|[^;{}]*\.should\.", text(node)):
            receiver = self.tokens(child(node, "object"))
            call = Call(text(child(node, "property")), receiver, (), line(node), self.tokens(node))
            yield from self._with_idle(of_call(call, self.language, self.values), idle)
        else:
            yield from self._inner(node, idle)

    def _asserts(self, call: Call) -> bool:
        name, receiver = call.name.rstrip("!"), call.receiver
        if name in {"assertions", "hasAssertions"} and receiver == ("expect",):
            return False  # how many there are to be, and none itself
        if receiver[:2] in {("self", "."), ("this", ".")}:
            receiver = receiver[2:]
        if name in {"expect", "assertThat"} and not receiver and self.language != "rust":
            return False  # the root of a chain, which is told by its end
        if self.language == "rust":
            return (call.name.endswith("!") and "assert" in name) or name.startswith(("assert", "check_"))
        if self.language == "go" and receiver == ("t",):
            return False
        chained = (
            bool(receiver)
            and ({"expect", "assertThat", "should"} & set(receiver[:1] + receiver[-3:]))
            and bool(receiver[0] in {"expect", "assertThat"} or "should" in receiver)
        )
        library = bool(receiver) and (receiver[0] in _LIBRARIES - {"np", "testing"} or receiver[:2] == ("np", "."))
        if receiver[:1] == ("np",) or receiver[:1] == ("testing",):
            library = name.startswith("assert")
        tap = self.language in {"javascript", "typescript"} and receiver in {("t",), ("test",)} and name in _TAP
        return bool(chained or library or tap or ASSERTS.search(name) or _FURTHER.search(name))

    def _read(self, node: Node) -> Call | None:
        if node.type == "macro_invocation":
            name = text(child(node, "macro")).rpartition("::")[2] + "!"
            tree = next(iter(named(node, "token_tree")), None)
            inside = self.tokens(tree)[1:-1]
            return Call(name, (), tuple(split(inside, ",")), line(node), self.tokens(node))
        arguments = child(node, "arguments")
        parts = tuple(self.tokens(each) for each in named(arguments) if "comment" not in each.type)
        if node.type == "method_invocation":
            return Call(
                text(child(node, "name")), self.tokens(child(node, "object")), parts, line(node), self.tokens(node)
            )
        function = child(node, "function")
        if function is None:
            return None
        owner = next((n for f in ("object", "operand", "value") if (n := child(function, f)) is not None), None)
        last = next(
            (n for f in ("attribute", "property", "field", "name") if (n := child(function, f)) is not None), function
        )
        return Call(text(last), self.tokens(owner), parts, line(node), self.tokens(node))

    def _unawaited(self, node: Node, call: Call) -> bool:
        return bool({"resolves", "rejects"} & set(call.receiver)) and self._dropped(node)

    def _dropped(self, node: Node) -> bool:
        """Whether a promise is a statement by itself, and the test takes no function that says when it is done."""
        if self.language not in {"javascript", "typescript"} or re.search(
            r"(?<!Promise\.)\b(?:done|resolve|next|cb)\s*\(", text(node)
        ):
            return False
        parent = node.parent
        return parent is not None and parent.type == "expression_statement"

    def _with_idle(self, found: Iterator[Assertion], idle: str) -> Iterator[Assertion]:
        for each in found:
            yield type(each)(**{**vars(each), "idle": idle}) if idle else each

    def tokens(self, node: Node | None) -> Tokens:
        return tokens(text(node), self.language)


_MEMBERS = frozenset({"member_expression", "attribute", "field_access"})


def _asked_before(each: Assertion, condition: Tokens) -> Assertion:
    """An assertion below a condition, idle where that compares the same two things."""
    for sign in ("==", "==="):
        for part in split(condition, "and", "&&"):
            sides = [bare(side) for side in split(bare(part), sign)]
            if each.expected and sorted(sides) == sorted((each.subject, each.expected)):
                return type(each)(**{**vars(each), "idle": each.idle or "the condition above it asks the same"})
    return each


def _suppresses(node: Node) -> bool:
    body = child(node, "body")
    head = text(node)[: body.start_byte - node.start_byte] if body is not None else text(node)
    return bool(re.search(r"\b(?:suppress|raises|assertRaises)\(", head) and _CATCHES.search(head))


def _fails(block: Node) -> bool:
    """Whether a block of Go lets the test fail, by itself and not by another condition in it."""
    statements = [each for part in named(block, "statement_list") or [block] for each in named(part)]
    direct = (
        each.named_children[0] for each in statements if each.type == "expression_statement" and each.named_children
    )
    return any(_FAILS.match(text(child(each, "function"))) for each in direct if each.type == "call_expression")


def _turned(condition: Tokens) -> Tokens:
    """The condition under which a test does not fail."""
    parts = []
    for each in split(condition, "||"):
        part = bare(each)
        sign = next((sign for sign in _TURNED if len(split(part, sign)) == 2), "")  # noqa: PLR2004 - two sides
        if sign:
            left, right = split(part, sign)
            parts.append((*left, _TURNED[sign], *right))
        else:
            parts.append(part[1:] if part[:1] == ("!",) else ("!", *part))
    return tuple(token for number, each in enumerate(parts) for token in (("&&",) if number else ()) + each)


def _values(body: Node, language: str) -> dict[str, Tokens]:
    """What names stand for that a body gives one value."""
    found: list[tuple[str, Node | None]] = []
    for node in grammars.walk(body):
        if node.type in {"assignment", "short_var_declaration"}:
            left, right = child(node, "left"), child(node, "right")
            found.append((text(left), right))
        elif node.type in {"variable_declarator", "let_declaration", "var_spec"}:
            found.append((text(child(node, "name") or child(node, "pattern")), child(node, "value")))
        elif node.type in {"augmented_assignment", "augmented_assignment_expression", "assignment_expression"}:
            found += [(text(child(node, "left")), None)] * 2
    counts = Counter(name for name, _ in found)
    return {
        name: tokens(text(value), language)
        for name, value in found
        if value is not None and counts[name] == 1 and re.fullmatch(r"\w+", name)
    }
