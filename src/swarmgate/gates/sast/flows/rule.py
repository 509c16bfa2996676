"""The `flow` key of our rules: sources, sinks and sanitizers of a taint rule for Python.

flow:
  from: [web, local]              # kinds of source, see `sources`
  sinks:
    - os.system(0)                # the argument at position 0 of this function, under any alias
    - '*.execute(0|sql)'          # position 0 or keyword `sql` of a method of any object
    - 'subprocess.*(0; shell=True)'     # only where a condition holds: key=, !=, ~ or !~; `@` is the object itself,
                                        # `Loader/1` a keyword or a position
    - <page>                      # a place that is no call, see `interpreter`
  clean: REGEX                    # a call of a function of this name gives a harmless value
  guard: REGEX                    # a function of this name that says yes vouches for its argument
  refused: ["'"]                  # where one of these is refused or replaced, the value is harmless
  attacks: ["' or 1=1"]           # a regular expression that matches none of these, vouches
  start: REGEX                    # a known beginning after which the value is harmless
  before: REGEX                   # a known beginning that must stand before the value
  vouches: hosts | folders        # checks of a URL's host, or of a resolved path's folder, are guards
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from swarmgate.errors import ConfigError
from swarmgate.gates.sast.flows import sources
from swarmgate.gates.sast.flows.values import SIMPLE, Class, Function, Object, Ref, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from swarmgate.gates.sast.flows.values import Origins, Value

_SINK = re.compile(r"^(?P<name>[\w.*]+)\((?P<slots>[^;)]*)(?:;(?P<when>.*))?\)$")
_CONDITION = re.compile(r"^\s*(?P<key>@|\w+(?:/\d+)?)(?P<sign>!=|!~|=|~)(?P<text>.*?)\s*$")
_PLACES = {
    "<page>": r"\breturn\b", "<session>": r"(?i:session)", "<shell>": r"subprocess|os\.|pty|asyncio",
    "<header>": r"(?i:header)", "<location>": r"(?i:location)",
    "<secret>": r"(?i:session|cookie|token|secret|passw|passphrase|otp|nonce|salt|csrf|key|remember|code)",
}  # fmt: skip
_KEYS = {"from", "sinks", "clean", "guard", "refused", "attacks", "start", "before", "vouches"}


@dataclass(frozen=True, slots=True)
class Condition:
    """`key sign text` over the arguments of a call."""

    key: str
    sign: str
    text: str

    def holds(self, call: Call) -> bool:
        """Whether the condition is true; an argument that is not given is empty."""
        name, _, position = self.key.partition("/")
        value = call.holder if self.key == "@" else call.described(name, int(position) if position else None)
        found = value == self.text if "=" in self.sign else re.search(self.text, value) is not None
        return found is not self.sign.startswith("!")


@dataclass(frozen=True, slots=True)
class Sink:
    """The arguments (positions, keywords, `*` for all) of calls of `name` where the conditions hold."""

    name: str
    slots: tuple[str, ...]
    when: tuple[Condition, ...] = ()

    def fits(self, call: Call) -> bool:
        """Whether the sink matches this call."""
        head, _, last = self.name.rpartition(".")
        called, _, method = call.name.rpartition(".")
        inner = head.startswith("*.") and f".{called}".endswith(head[1:])
        if last not in {"*", method} or not (inner or head in {"*", called}):
            return False
        return all(condition.holds(call) for condition in self.when)


@dataclass(frozen=True, slots=True)
class Flow:
    """The sources, sinks and sanitizers of one rule."""

    rule: str
    sources: frozenset[str]
    calls: tuple[Sink, ...]
    places: frozenset[str]
    clean: str
    guard: str
    refused: tuple[str, ...]
    attacks: tuple[str, ...]
    start: str
    before: str
    vouches: str
    words: str

    def harmed_by(self, value: Text) -> Origins:
        """The origins of outside input in this value that the rule does not regard as harmless."""
        origins = frozenset(
            origin for origin in value.origins if origin[0] in self.sources and (self.rule, origin) not in value.safe
        )
        if not origins or (self.start and re.search(self.start, value.start)):
            return frozenset()
        return origins if not self.before or re.search(self.before, value.start) else frozenset()


@dataclass(frozen=True, slots=True)
class Call:
    """A call as rules match it: its full name, its holder, and the arguments."""

    name: str
    holder: str
    arguments: tuple[Value, ...]
    keywords: Mapping[str, Value]

    def described(self, name: str, position: int | None) -> str:
        """An argument as text; empty where it is not given."""
        if name in self.keywords:
            return describe(self.keywords[name])
        given = position is not None and position < len(self.arguments)
        return describe(self.arguments[position]) if given and position is not None else ""


class Flows:
    """The flows of all rules, with the queries that the interpreter makes by name."""

    def __init__(self, flows: Iterable[Flow]) -> None:
        self.all = tuple(flows)
        self.every = frozenset(flow.rule for flow in self.all)
        self._sinks: dict[str, list[tuple[Flow, Sink]]] = {}
        for flow in self.all:
            for sink in flow.calls:
                self._sinks.setdefault(sink.name.rpartition(".")[2], []).append((flow, sink))
        self.cleaned_by = functools.cache(self._cleaned_by)
        self.guarded_by = functools.cache(self._guarded_by)
        self._some = functools.cache(Flows)

    def concerning(self, text: str) -> Flows:
        """The flows of which a file may have both a source and a sink, by its words."""
        kinds = frozenset().union(*(flow.sources for flow in self.all))
        present = {kind for kind in kinds if sources.present(kind, text)}
        named = [flow for flow in self.all if flow.sources & present and re.search(flow.words, text)]
        return self._some(tuple(named))

    def sinks(self, call: Call) -> list[tuple[Flow, Sink]]:
        """The rules and sinks that match a call."""
        last = call.name.rpartition(".")[2]
        candidates = [*self._sinks.get(last, ()), *self._sinks.get("*", ())]
        return [(flow, sink) for flow, sink in candidates if sink.fits(call)]

    def at(self, place: str) -> list[Flow]:
        """The rules with a sink that is not a call, by its name."""
        return [flow for flow in self.all if place in flow.places]

    def without(self, character: str) -> frozenset[str]:
        """The rules for which a value without this text is harmless."""
        return frozenset(flow.rule for flow in self.all if any(each in character for each in flow.refused))

    def vouched(self, how: str) -> frozenset[str]:
        """The rules whose values a check of this kind makes harmless."""
        return frozenset(flow.rule for flow in self.all if flow.vouches == how)

    def matched(self, pattern: str, *, whole: bool, search: bool = False) -> frozenset[str]:
        """The rules none of whose attacks is matched by a regular expression."""
        try:
            expression = re.compile(pattern)
        except (re.error, RecursionError, OverflowError):
            return frozenset()
        match = expression.search if search else expression.fullmatch if whole else expression.match
        return frozenset(flow.rule for flow in self.all if flow.attacks and not any(map(match, flow.attacks)))

    def _cleaned_by(self, name: str) -> frozenset[str]:
        return frozenset(flow.rule for flow in self.all if flow.clean and re.search(flow.clean, name))

    def _guarded_by(self, name: str) -> frozenset[str]:
        return frozenset(flow.rule for flow in self.all if flow.guard and re.search(flow.guard, name))


def read(rule: str, raw: Mapping[str, Any]) -> Flow:
    """The flow of a rule file.

    Raises:
        ConfigError: a key is unknown, or a value is not of its form.
    """
    unknown = set(raw) - _KEYS
    if unknown:
        raise ConfigError(f"rule {rule}: flow: unknown key {min(unknown)!r}")

    calls = tuple(_sink(rule, text) for text in raw["sinks"] if not text.startswith("<"))
    places = frozenset(text for text in raw["sinks"] if text.startswith("<"))
    return Flow(
        rule=rule,
        sources=frozenset(raw["from"]) | ({"argv"} if "local" in raw["from"] else set()),
        calls=calls,
        places=places,
        clean=raw.get("clean", ""),
        guard=raw.get("guard", ""),
        refused=tuple(raw.get("refused", ())),
        attacks=tuple(raw.get("attacks", ())),
        start=raw.get("start", ""),
        before=raw.get("before", ""),
        vouches=raw.get("vouches", ""),
        words="|".join([*(_PLACES[place] for place in places), *(re.escape(_word(sink)) for sink in calls)]),
    )


def describe(value: Value) -> str:
    """A value as text, for conditions: `True`, `yaml.SafeLoader`, `lxml.etree.XMLParser(resolve_entities=True)`.

    Of a text that is not known, what is known of its beginning.
    """
    if isinstance(value, str):
        return value
    if isinstance(value, Text):
        return value.start
    if isinstance(value, SIMPLE):
        return repr(value)
    if isinstance(value, Ref):
        return value.name
    if isinstance(value, Object):
        plain = [(key, each) for key, each in value.fields.items() if isinstance(each, (*SIMPLE, Ref))]
        inner = ", ".join(f"{key}={describe(each)}" for key, each in plain)
        return f"{value.name}({inner})"
    if isinstance(value, Class):
        return value.node.name
    if isinstance(value, Function):
        return getattr(value.node, "name", "lambda")
    return "?"


def _word(sink: Sink) -> str:
    """What stands in every file that calls a sink: the function's name, or its module's."""
    head, _, last = sink.name.rpartition(".")
    return last if last != "*" else head.rpartition(".")[2]


def check(flow: Flow) -> None:
    """Check that the regular expressions of a flow compile; not done on each run, since it takes time.

    Raises:
        ConfigError: one is not.
    """
    conditions = [condition.text for sink in flow.calls for condition in sink.when if "~" in condition.sign]
    for text in (flow.clean, flow.guard, flow.start, flow.before, flow.words, *conditions):
        try:
            re.compile(text)
        except re.error as error:
            raise ConfigError(f"rule {flow.rule}: flow: {text!r} is no regular expression: {error}") from error


def _sink(rule: str, text: str) -> Sink:
    match = _SINK.match(text)
    conditions = [_CONDITION.match(part) for part in (match["when"] or "").split(" and ")] if match else []
    if match is None or (match["when"] and not all(conditions)):
        raise ConfigError(f"rule {rule}: flow: {text!r} is no sink")
    slots = tuple(part.strip() for part in match["slots"].split("|"))
    return Sink(
        match["name"], slots, tuple(Condition(*each.group("key", "sign", "text")) for each in conditions if each)
    )
