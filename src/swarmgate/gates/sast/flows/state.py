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
    """Raised when the analysis of a file exceeds its step limit."""


@dataclass(slots=True)
class Frame:
    """One running function: `env` its names (None after a return), `scope` the enclosing names, inner first.

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
    """One finding: outside input that reaches a sink."""

    rule: str
    line: int
    column: int
    end_line: int
    end_column: int


class State:
    """The names and findings that all parts of the interpreter share."""

    def __init__(self, flows: Flows) -> None:
        self.flows = flows
        self.found: dict[Found, Origins] = {}
        self.frame = Frame({})
        self.seen: dict[int, Value] = {}
        self.steps = 0
        self.waiting: list[Function] = []
        self.guards = Guards(flows, lambda node: self.seen.get(id(node), UNKNOWN))

    def step(self) -> None:
        """Count one more statement or expression.

        Raises:
            TooMuch: it was one too many.
        """
        self.steps += 1
        if self.steps > _MOST_STEPS:
            raise TooMuch

    def wait_for(self, function: Function) -> None:
        """Queue a function to be run on its own, once, later."""
        if all(function.node is not each.node for each in self.waiting):
            self.waiting.append(function)

    def get(self, name: str) -> Value:
        """The value of a name; an unknown name is a builtin's or another module's."""
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
        """Narrow the values of names by a condition that was true (or false)."""
        for text, rules in self.guards.vouch(test, truth=truth):
            if not rules or self.frame.env is None:
                continue
            safe = text.made_safe(rules)
            for name, value in self.frame.env.items():
                if value is text:
                    self.frame.env[name] = safe

    def reached(self, flow: Flow, value: Text, node: ast.expr) -> None:
        """Record that `value` reaches a sink of a rule; a finding where it holds outside input."""
        origins = flow.harmed_by(value)
        if origins:
            column, end = node.col_offset + 1, (node.end_col_offset or 0) + 1
            found = Found(flow.rule, node.lineno, column, node.end_lineno or node.lineno, end)
            self.found[found] = self.found.get(found, frozenset()) | origins
