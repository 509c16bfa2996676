"""The state of the taint analysis while it runs: names, evaluated expressions, findings."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from swarmgate.gates.sast.flows.guards import Guards
from swarmgate.gates.sast.flows.values import UNKNOWN, Ref

if TYPE_CHECKING:
    from swarmgate.gates.sast.flows.rule import Flow, Flows
    from swarmgate.gates.sast.flows.values import Env, Function, Origins, Text, Value

_MOST_STEPS = 400_000


class TooMuch(Exception):
    """The file is not judged in the steps that one may take."""


@dataclass(slots=True)
class Frame:
    """One function that runs: `env` its names (None after a return), `scope` the names around it, inner first.

    `page`: what it returns is sent as a page; `fixed_path`: it answers one path only, which no client chooses.
    """

    env: Env | None
    scope: tuple[Env, ...] = ()
    returned: list[Value] = field(default_factory=list)
    breaks: list[list[Env]] = field(default_factory=list)
    page: bool = False
    fixed_path: bool = False
    outer: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Found:
    """Outside input at a place where it does harm."""

    rule: str
    line: int
    column: int
    end_line: int
    end_column: int


class State:
    """The names and findings, which all parts of the interpreter share."""

    def __init__(self, flows: Flows) -> None:
        self.flows = flows
        self.found: dict[Found, Origins] = {}
        self.frame = Frame({})
        self.seen: dict[int, Value] = {}
        self.steps = 0
        self.waiting: list[Function] = []
        self.guards = Guards(flows, lambda node: self.seen.get(id(node), UNKNOWN))

    def step(self) -> None:
        """One statement or expression more.

        Raises:
            TooMuch: it was one too many.
        """
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise TooMuch

    def wait_for(self, function: Function) -> None:
        """A function to run on its own, once, when all before it has run."""
        if all(function.node is not each.node for each in self.waiting):
            self.waiting.append(function)

    def get(self, name: str) -> Value:
        """What a name holds; a name of nowhere is a builtin's or another module's."""
        for env in (self.frame.env or {}, *self.frame.scope):
            if name in env:
                return env[name]
        return Ref(name)

    def set(self, name: str, value: Value) -> None:
        """Bind a name."""
        if self.frame.env is None:
            return
        self.frame.env[name] = value
        if name in self.frame.outer:
            for env in self.frame.scope:
                if name in env:
                    env[name] = value
                    return

    def vouch(self, test: ast.expr, *, truth: bool) -> None:
        """Narrow what names hold by a condition that was true (or false)."""
        for text, rules in self.guards.vouch(test, truth=truth):
            if not rules or self.frame.env is None:
                continue
            safe = text.made_safe(rules)
            for name, value in self.frame.env.items():
                if value is text:
                    self.frame.env[name] = safe

    def reached(self, flow: Flow, value: Text, node: ast.expr) -> None:
        """Outside input may stand in `value` at a sink of a rule."""
        origins = flow.harmed_by(value)
        if origins:
            column, end = node.col_offset + 1, (node.end_col_offset or 0) + 1
            found = Found(flow.rule, node.lineno, column, node.end_lineno or node.lineno, end)
            self.found[found] = self.found.get(found, frozenset()) | origins
