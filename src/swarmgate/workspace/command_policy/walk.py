"""Walks the syntax tree of a shell text statement by statement, as a shell would execute it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from swarmgate.workspace.code import grammars
from swarmgate.workspace.command_policy import builtins, heredocs, quoting
from swarmgate.workspace.command_policy.expansion import Expansion
from swarmgate.workspace.command_policy.model import UNKNOWN, Feed, Redirect, Simple, Unreadable, Word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

    from swarmgate.workspace.command_policy.state import State

_REDIRECTS = frozenset({"file_redirect"})
_DOUBTFUL = frozenset({"if_statement", "case_statement", "while_statement", "c_style_for_statement"})
_WAITS = frozenset({"wait", "sleep", "break", "read", "exit", "return"})


class Commands(Protocol):
    """Receives the commands of a text, in the order of a shell."""

    def record(self, simple: Simple) -> None:
        """Takes a command that starts nothing itself: redirections alone, or what goes on for ever."""

    def run(
        self, words: Sequence[Word], state: State, feed: Feed, *, redirects: Sequence[Redirect] = (),
        assigned: Sequence[tuple[str, str]] = (),
    ) -> Feed:  # fmt: skip
        """Takes one command with its words; returns what it prints."""


class Text:
    """Walks one text of shell code.

    Args:
        commands: gets each command.
        content: the text, UTF-8, without here-documents.
        bodies: those.
    """

    def __init__(self, commands: Commands, content: bytes, bodies: Sequence[str]) -> None:
        self._commands = commands
        self._content = content
        self._words = Expansion(content, bodies, self._substituted, self._process)

    def whole(self, root: Node, state: State, feed: Feed) -> Feed:
        """The whole text; raises `Unreadable` where it is no valid shell code."""
        if root.has_error:
            raise Unreadable(f"it is no valid shell code {self._where(root)}")
        return self.walk(root, state, feed)

    def walk(self, node: Node, state: State, feed: Feed, extra: Sequence[Node] = ()) -> Feed:
        """One statement; `extra` are redirections that stand behind it. Returns what it prints."""
        match node.type:
            case "command" | "declaration_command" | "unset_command":
                return self._command(node, state, feed, extra)
            case "redirected_statement":
                body = [child for child in node.named_children if child.type not in _REDIRECTS]
                behind = [child for child in node.named_children if child.type in _REDIRECTS]
                return self._redirected(body, state, feed, [*behind, *extra])
            case "pipeline" | "list" | "negated_command":
                return self._joined(node, state, feed, extra)
            case "function_definition":
                return self._function(node, state)
            case "variable_assignment" | "variable_assignments":
                return self._assignments(node, state)
            case _ if extra:
                return self._redirected([node], state, feed, extra)
            case _:
                return self._block(node, state, feed)

    # --- statements of several commands ---

    def _joined(self, node: Node, state: State, feed: Feed, extra: Sequence[Node]) -> Feed:
        parts = [child for child in node.named_children if child.type != "comment"]
        printed, doubtful = [], state.doubtful
        for index, part in enumerate(parts):
            behind = extra if part is parts[-1] else ()
            if node.type == "pipeline":
                feed = self.walk(part, state.copy(), feed, behind)
            else:
                state.doubtful = doubtful or index > 0
                printed.append(self.walk(part, state, feed, behind))
        state.doubtful = doubtful
        return feed if node.type == "pipeline" else _merged(printed)

    def _redirected(self, body: Sequence[Node], state: State, feed: Feed, behind: Sequence[Node]) -> Feed:
        if len(body) == 1 and body[0].type in {
            "command",
            "pipeline",
            "list",
            "negated_command",
            "redirected_statement",
        }:
            return self.walk(body[0], state, feed, behind)
        redirects, words, feed = self._redirects(behind, state, feed)
        if redirects or words:
            self._commands.record(Simple((), tuple(redirects), state.cwd, state.via))
        if words:
            self._commands.run(words, state, feed)
        for each in redirects:
            if each.operator == "<":
                known = state.files.get(builtins.joined(state.cwd, each.target.text))
                feed = known or Feed(None, ("<",), file=each.target.text)
        out = _merged([self.walk(part, state, feed) for part in body])
        return Feed("") if any(each.writes for each in redirects) else out

    def _block(self, node: Node, state: State, feed: Feed) -> Feed:
        """Whatever holds statements: each of them in order; loops and branches may skip some."""
        if node.type == "subshell":
            state = state.copy()
        elif node.type == "for_statement":
            self._bind(node, state)
        elif node.type == "while_statement":
            self._endless(node, state)
        doubtful = state.doubtful
        state.doubtful = doubtful or node.type in _DOUBTFUL
        printed = [self._within(child, state, feed) for child in node.named_children]
        state.doubtful = doubtful
        return _merged([each for each in printed if each is not None])

    def _within(self, node: Node, state: State, feed: Feed) -> Feed | None:
        """A child that may be a statement, or a word with commands in it."""
        if node.type in {"comment", "variable_name"}:
            return None
        if node.type in _WORDS:
            self._words.text([node], state)
            return None
        return self.walk(node, state, feed)

    def _bind(self, node: Node, state: State) -> None:
        """Gives the variable of a loop all of its values at once."""
        name = node.child_by_field_name("variable")
        items = [child for child in node.named_children if child.type != "do_group" and child != name]
        words = [word for group in self._words.grouped(items) for word in self._words.words(group, state)]
        values = [word.text for word in words]
        if not items and not any(child.type == "in" for child in node.children):
            values = list(state.arguments)
        if name is not None:
            state.variables[self._words.source(name)] = quoting.any_of(values) if values else UNKNOWN

    # --- bombs ---

    def _function(self, node: Node, state: State) -> Feed:
        name_node, body = node.child_by_field_name("name"), node.child_by_field_name("body")
        if name_node is None or body is None:
            return Feed("")
        name = self._words.source(name_node).casefold()
        state.functions[name] = (self, body)
        again = [
            each for each in _below(body) if each.type == "command_name" and self._words.source(each).casefold() == name
        ]
        if again and any(each.type in {"&", "|", "|&"} for each in _below(body)):
            self._commands.record(Simple((Word(name),), cwd=state.cwd, via=state.via, loops=True))
        return Feed("")

    def _endless(self, node: Node, state: State) -> None:
        condition = node.child_by_field_name("condition")
        always = condition is not None and self._words.source(condition).strip("; \n") in {
            "true",
            ":",
            "[ 1 ]",
            "((1))",
        }
        names = {self._words.source(each) for each in _below(node) if each.type == "command_name"}
        if always and not names & _WAITS and any(each.type == "&" for each in _below(node)):
            self._commands.record(Simple((Word("while"),), cwd=state.cwd, via=state.via, loops=True))

    # --- one command ---

    def _command(self, node: Node, state: State, feed: Feed, extra: Sequence[Node]) -> Feed:
        assigned: list[tuple[str, str]] = []
        plain: list[Node] = []
        behind = [child for child in node.children if child.type in _REDIRECTS]
        for child in node.children:
            if child.type == "variable_assignment":
                assigned.append(self._assignment(child, state))
            elif child.type not in _REDIRECTS and child.type != "comment":
                plain.append(child)
        redirects, more, feed = self._redirects([*behind, *extra], state, feed)
        words = [word for group in self._words.grouped(plain) for word in self._words.words(group, state)]
        words += more
        declares = node.type != "command"
        if declares or not words:
            for name, value in assigned:
                if name:
                    state.assign(name, value)
            if redirects:
                self._commands.record(Simple((), tuple(redirects), state.cwd, state.via))
        if declares:
            self._declared(words, assigned, state)
            return Feed("")
        if not words:
            return Feed("")
        named = [(name, value) for name, value in assigned if name]
        return self._commands.run(words, state, feed, redirects=redirects, assigned=named)

    def _declared(self, words: Sequence[Word], assigned: Sequence[tuple[str, str]], state: State) -> None:
        """`export`, `declare`, `unset`: their words may assign too."""
        for word in words[1:]:
            name, equals, value = word.text.partition("=")
            if equals:
                state.assign(name, value)
            elif words[0].text == "unset":
                state.assign(name, "")
        self._commands.run(words, state, Feed(""), assigned=[(name, value) for name, value in assigned if name])

    def _assignments(self, node: Node, state: State) -> Feed:
        several = node.type == "variable_assignments"
        for child in node.named_children if several else [node]:
            name, value = self._assignment(child, state)
            if name:
                state.assign(name, value)
        return Feed("")

    def _assignment(self, node: Node, state: State) -> tuple[str, str]:
        """The name and the value; an array is set at once, and its name is empty then."""
        name_node = node.children[0]
        name = self._words.source(name_node).partition("[")[0]
        adds = any(child.type == "+=" for child in node.children)
        values = [child for child in node.children[1:] if child.type not in {"=", "+="}]
        if values and values[0].type == "array":
            groups = self._words.grouped(values[0].named_children)
            texts = [word.text for group in groups for word in self._words.words(group, state)]
            state.assign_all(name, [*(state.arrays.get(name, ()) if adds else ()), *texts])
            return "", ""
        value = self._words.one(values, state)
        if name_node.type == "subscript":
            state.assign_all(name, [*state.arrays.get(name, ()), value])
            return "", ""
        return name, (state.value(name) + value if adds else value)

    def _redirects(self, nodes: Sequence[Node], state: State, feed: Feed) -> tuple[list[Redirect], list[Word], Feed]:
        """The files that are opened, words that stand behind them but belong to the command, and its input."""
        redirects: list[Redirect] = []
        more: list[Word] = []
        for node in nodes:
            operator = next((child.type for child in node.children if "<" in child.type or ">" in child.type), "")
            after = [child for child in node.children if child.type not in {operator, "file_descriptor"}]
            groups = list(self._words.grouped(after))
            if groups and self._words.source(groups[0][0]).startswith(heredocs.HERE):
                text = self._words.one(groups[0], state).removeprefix(heredocs.HERE)
                feed = Feed(None if text == UNKNOWN else text, ("<<<",))
                groups = groups[1:]
            elif groups:
                descriptor = next(
                    (self._words.source(each) for each in node.children if each.type == "file_descriptor"), ""
                )
                redirects += self._opened(operator, descriptor, self._words.words(groups[0], state))
                groups = groups[1:]
            more += [word for group in groups for word in self._words.words(group, state)]
        return redirects, more, feed

    @staticmethod
    def _opened(operator: str, descriptor: str, targets: Sequence[Word]) -> list[Redirect]:
        if operator in {">&", "<&"} and all(word.text.rstrip("-").isdecimal() or word.text == "-" for word in targets):
            return []
        symbol = f"{descriptor}{operator}" if descriptor not in {"", "1", "0"} else operator
        return [Redirect(symbol, target) for target in targets]

    # --- commands in words ---

    def _substituted(self, node: Node, state: State) -> str:
        below = state.copy("$()")
        out = _merged([self._substatement(child, below) for child in node.named_children])
        return UNKNOWN if out.text is None else out.text.rstrip("\n")

    def _substatement(self, node: Node, state: State) -> Feed:
        if node.type in _REDIRECTS:  # `$(< file)`
            redirects, _, _ = self._redirects([node], state, Feed(""))
            known = [state.files.get(builtins.joined(state.cwd, each.target.text)) for each in redirects]
            if any(each.writes for each in redirects):
                self._commands.record(Simple((), tuple(redirects), state.cwd, state.via))
            return known[0] if known and known[0] else Feed(None, ("<",))
        return self._within(node, state, Feed("")) or Feed("")

    def _process(self, node: Node, state: State) -> str:
        out = _merged([self._within(child, state.copy("<()"), Feed("")) or Feed("") for child in node.named_children])
        path = f"/dev/fd/{63 + len(state.files)}"
        state.files[path] = out
        return path

    def _where(self, root: Node) -> str:
        """Where the first error stands."""
        for node in reversed(_below(root)):  # the innermost says most
            if node.is_error or node.is_missing:
                near = self._content[node.start_byte : node.start_byte + 30].decode("utf-8", "replace").split("\n")[0]
                line = node.start_point[0] + 1
                what = f"a missing `{node.type}`" if node.is_missing else f"near `{near}`"
                return f"in line {line}: {what}"
        return "(the parser found an error)"


_WORDS = frozenset({
    "word", "string", "raw_string", "ansi_c_string", "concatenation", "simple_expansion", "expansion", "number",
    "command_substitution", "process_substitution", "arithmetic_expansion", "extglob_pattern", "regex",
    "brace_expression", "array", "string_content", "translated_string",
})  # fmt: skip


def _below(node: Node) -> list[Node]:
    return list(grammars.walk(node))


def _merged(feeds: Sequence[Feed]) -> Feed:
    """What several commands print one after the other."""
    if len(feeds) == 1:
        return feeds[0]
    texts = [feed.text for feed in feeds]
    known = "\n".join(text for text in texts if text) if None not in texts else None
    return Feed(known, tuple(dict.fromkeys(name for feed in feeds for name in feed.programs)))
