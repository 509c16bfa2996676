"""Extracts tool calls from the text of an answer, in every notation that models are known for. Pure.

A text is read once, from its beginning: what is thinking is cut out, what is a call is taken out, what is code or other
JSON stays as it is, and a mark of thinking in any of these is data. What a model was shown and repeats is data still: a
call that stands word for word in the conversation's data is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from swarmgate.domain.review.evidence import Verdict
from swarmgate.domain.text.json_text import loaded_at
from swarmgate.llm.model import ToolCall, ToolSpec
from swarmgate.llm.parsing.call_shapes import (
    TWO_WAYS,
    Entry,
    Tools,
    argument_text,
    entries_of,
    own_name,
    python_calls,
    python_list_end,
)
from swarmgate.llm.parsing.markup import HEAD, NOISE, ORPHAN, PYTHON, marked_at
from swarmgate.llm.parsing.relaxed_json import CUT, Unreadable, relaxed_at
from swarmgate.llm.parsing.thinking import FENCE, MARK, closes, ends_thinking, is_empty, is_named, thought_at

_CANDIDATES = 200
"""How many `{`, `[` and marks of calls are tried; prose with more of them holds no call in good faith."""
_EFFORT = 2_000_000
"""Characters that are read in vain, in all, for JSON with liberties."""
_CUTS = 10
"""How often thinking is cut out of what is left after it was; more comes of no model in good faith."""
_NESTED = 3
"""Levels of fences within fences."""

_FENCE = r"^[ \t]{0,8}(?P<ticks>`{3,}|~{3,})[ \t]*(?P<info>[^\n`]*)$"
_CODE_OF_CALLS = frozenset({"tool_code", "tool_call", "tool_calls", "function_call", "function_calls"})
_TICKS = re.compile("`+")
_STRAY = re.compile(r"\A\s*`+\w*[ \t]*$|\A\s*`+|`+\w*\s*\Z", re.MULTILINE)
_CHANNEL_ENDS = re.compile(r"<\|(?:start|end|return|call|message)\|>(?:assistant)?")
_WORDS = re.compile(r"\w|-->")
_BROKEN = re.compile(r"\{\s*[\"']\w+[\"']\s*:")
_QUOTED = re.compile(r"^[ \t]*>[ \t]*\Z", re.MULTILINE)
_STRUCK = re.compile(r"~~\s*\Z|<(?:s|del|strike)>\s*\Z|[(\u201c\u201e\u00ab][^)\u201d\u00bb]*\Z", re.IGNORECASE)
"""Before a call on its line: what strikes it out, or puts it in parentheses or in quotes."""
_LEAD = 400
"""Characters before a call in which the words that lead to it are looked for."""
_TAKING_BACK = re.compile(
    r"\b(?:not|never|cannot|\w+n['\u2019]t)\b[^.!?]{0,40}\b(?:submit|send|approve|answer|say|vote|reply)\b[^.!?]*\Z"
    r"|\bI(?:['\u2019]d|\s(?:would|could|might|may))\b[^.!?]*\Z"
    r"|\b(?:tempt\w+|suppose|imagine|hypothetical\w*|thoughts?|thinking|thinks)\b[^.!?]*\Z"
    r"|\b(?:draft|for example|for instance|e\.g\.?)\W*\Z",
    re.IGNORECASE,
)
"""Words that lead to a call which is spoken of and not made."""
_INVENTED = re.compile(
    r"</?(?:(?:tool|function)_(?:response|result|output)s?)>"
    r"|<\|(?:im_start|start_header_id)\|>\s*(?:user|tool|ipython)"
    r"|^[ \t]*(?:Observation|Result of \w+|User|Human)\s*:",
    re.IGNORECASE | re.MULTILINE,
)
"""How a model goes on as the other side: what it says then was never told to it."""
_LAYOUT = re.compile(r"[\s+>|\u241b-]+")
"""What may differ between a text and its quotation: white space, the marks of a diff or a quoted line, our own sign."""


class Reading(NamedTuple):
    """The parsed answer of a model.

    `text` is what it says beside its calls, `after` what of that stands behind the last one; `thought` is its thinking.
    `repaired` tells, for each call that was not spelt as it should be, how it was. `doubt` says why calls of it may not
    be meant; empty when they can be taken.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    after: str = ""
    thought: str = ""
    repaired: tuple[str, ...] = ()
    doubt: str = ""


def read(text: str, tools: Sequence[ToolSpec] = (), *, prefix: str = "text", data: Iterable[str] = ()) -> Reading:
    """Parses an answer into its text, its tool calls and its reasoning.

    Args:
        text: the answer.
        tools: those on offer. A call by another name is read in our own spelling only.
        prefix: what the ids of the calls begin with; unique in the conversation.
        data: what the model was shown. A call that stands in it word for word is a quotation.
    """
    scan = _Scan(text, {tool.name: tool for tool in tools}, _Quotable(data))
    scan.run()
    if not scan.has_calls:
        scan.only_python()
    found = scan.reading(prefix)
    if found.calls or not found.thought:
        return found
    rest = read_plain(found.text)
    return found._replace(text=rest.text, thought=f"{found.thought}\n{rest.thought}".strip())


def read_plain(text: str) -> Reading:
    """Parses an answer where no tool is on offer: all of it but its reasoning is text.

    What is left may come together to marks of thinking again, until nothing does.
    """
    thought: list[str] = []
    for _ in range(_CUTS):
        scan = _Scan(text, {}, _Quotable(()), calls=False)
        scan.run()
        found = scan.reading("")
        thought.append(found.thought)
        if found.text == text:
            return Reading(text, thought="\n".join(filter(None, thought)))
        text = found.text
    return Reading("", thought="\n".join(filter(None, [*thought, text])))


class _Quotable:
    """What the model was shown, in a form that quotations can be looked for in."""

    def __init__(self, data: Iterable[str]) -> None:
        self._data = data
        self._bare: list[str] | None = None

    def holds(self, spelt: str) -> bool:
        """Whether a call stands in it as it was spelt, layout aside."""
        if self._bare is None:
            self._bare = [_LAYOUT.sub("", each) for each in self._data]
        bare = _LAYOUT.sub("", spelt)
        return any(bare in each for each in self._bare)


class _Call(NamedTuple):
    """A call and how it was put right."""

    name: str
    arguments: str
    repairs: tuple[str, ...]


class _Scan:
    """How far a text was read, and what was found: words and calls in their order, and thinking."""

    def __init__(
        self, text: str, tools: Tools, quotable: _Quotable, *, depth: int = 0, calls: bool = True, lead: str = ""
    ) -> None:
        self.thought: list[str] = []
        self.found: list[str | _Call] = []
        self.doubt = ""
        self._text, self._tools, self._quotable = text, tools, quotable
        self._depth, self._calls, self._channels, self._lead = depth, calls, False, lead
        self._at = self._done = self._thought_to = 0
        self._tries = self._effort = 0
        self._broken = self._thought_last = False
        self._lost: set[str] = set()
        self._unclosed: dict[str, int] = {}

    @property
    def has_calls(self) -> bool:
        return any(isinstance(each, _Call) for each in self.found)

    def run(self) -> None:
        """Reads all of it."""
        while token := self._next():
            groups = token.groupdict()
            if groups["mark"] is not None:
                self._mark(token)
            elif groups["fence"] is not None:
                self._fence(token)
            elif groups["orphan"] is not None:
                self._orphan(token)
            elif not self._called(token.start(), is_json=groups["bracket"] is not None):
                self._at = max(self._at, token.start() + 1)
        self._emit_until(len(self._text))

    def reading(self, prefix: str) -> Reading:
        """The result of the scan."""
        calls = [each for each in self.found if isinstance(each, _Call)]
        numbered = enumerate(calls)
        made = tuple(ToolCall(id=f"{prefix}_{n}", name=each.name, arguments=each.arguments) for n, each in numbered)
        repaired = tuple(f"{each.name}: {', '.join(each.repairs)}" for each in calls if each.repairs)
        thought = "\n".join([self._text[: self._thought_to], *self.thought]).strip()
        if not calls:
            text = "".join(each for each in self.found if isinstance(each, str))
            text = _CHANNEL_ENDS.sub("", text) if self._channels else text
            return Reading(text.strip() if thought or self._channels else text, thought=thought)
        last = max(n for n, each in enumerate(self.found) if isinstance(each, _Call))
        words = [_cleaned(each) if isinstance(each, str) else "" for each in self.found]
        spoken = [each if _WORDS.search(each) else "" for each in words]
        text, after = ("\n".join(filter(None, each)) for each in (spoken, spoken[last:]))
        after = after or ("(thinking)" if self._thought_last else "")
        return Reading(text, made, after, thought, repaired, self.doubt)

    def only_python(self) -> None:
        """Takes a text that is nothing but calls of Python for what it is."""
        text = "".join(each for each in self.found if isinstance(each, str))
        bare = _STRAY.sub("", NOISE.sub("\n", text)).strip()
        if (entries := python_calls(bare, self._tools)) and not self._quotable.holds(bare):
            self.found = [self._settled(each, bare) for each in entries]

    # --- the tokens ---

    def _next(self) -> re.Match[str] | None:
        spent = self._tries >= _CANDIDATES
        return _tokens(() if spent else tuple(self._tools), brackets=not spent).search(self._text, self._at)

    def _mark(self, token: re.Match[str]) -> None:
        mark = MARK.match(self._text, token.start())
        if mark is None or is_named(self._text, mark):
            self._at = token.end()
        elif closes(self._text, mark):
            self.thought, self._thought_to = [], mark.start()
            self.found, self.doubt, self._broken = [], "", False
            self._at = self._done = mark.end()
        elif thought := thought_at(self._text, mark):
            self._emit_until(thought.start)
            self._channels |= mark["harmony"] is not None
            self.thought.append(self._text[thought.start : thought.end])
            self._thought_last |= not is_empty(self.thought[-1])
            self._at = self._done = thought.end
        elif mark["harmony"] is not None:  # the header of what is said
            self._channel(mark)
        else:
            self._at = token.end()

    def _channel(self, mark: re.Match[str]) -> None:
        """What stands behind the header of a channel: a call where it names a recipient."""
        self._emit_until(mark.start())
        self._channels = True
        self._at = self._done = mark.end()
        recipient = re.search(r"to=functions\.([\w.-]+)", mark[0])
        brace = re.compile(r"\s*(?=\{)").match(self._text, mark.end())
        if recipient is None or brace is None:
            return
        try:
            found = relaxed_at(self._text, brace.end())
        except Unreadable:
            return
        if CUT not in found.repairs:
            repairs = ("written in marks of its template", *found.repairs)
            entry = Entry(own_name(recipient[1]), found.value, repairs, found.doubled)
            self._take((entry,), brace.end(), found.end, self._text[brace.end() : found.end])

    def _fence(self, token: re.Match[str]) -> None:
        """A fence that holds calls is layout; one that holds none is code, and so is whatever stands in it."""
        end = self._fence_end(token)
        if end is None or self._depth >= _NESTED:
            self._at = token.end()
            return
        body = self._text[token.end() + 1 : end.start()]
        if FENCE.fullmatch(token["info"].strip()):
            self._emit_until(token.start())
            self.thought.append(body)
            self._at = self._done = end.end()
            return
        if token["info"].strip() in _CODE_OF_CALLS and self._python(body, token.start(), end.end()):
            return
        lead = self._text[max(self._done, token.start() - _LEAD) : token.start()]
        inner = _Scan(body, self._tools, self._quotable, depth=self._depth + 1, calls=self._calls, lead=lead)
        inner.run()
        if token["info"].strip() in _CODE_OF_CALLS and not inner.has_calls:
            inner.only_python()
        if inner.has_calls:
            self._emit_until(token.start())
            self.found += inner.found
            self.thought += [body[: inner._thought_to], *inner.thought]
            self.doubt = self.doubt or inner.doubt
            self._done = end.end()
        elif _leaves_thinking(body):
            self._at = token.end()
            return
        self._at = end.end()

    def _fence_end(self, token: re.Match[str]) -> re.Match[str] | None:
        kind, length = token["ticks"][0], len(token["ticks"])
        if length >= self._unclosed.get(kind, length + 1):
            return None
        found = re.compile(rf"^[ \t]{{0,8}}{kind}{{{length},}}[ \t]*$", re.MULTILINE).search(self._text, token.end())
        if found is None:
            self._unclosed[kind] = length
        return found

    def _orphan(self, token: re.Match[str]) -> None:
        if self.has_calls and not is_named(self._text, token):
            self.doubt = f"`{token[0]}` stands outside of any call, so that one before it may not be whole"
        self._at = token.end()

    # --- calls ---

    def _called(self, start: int, *, is_json: bool) -> bool:
        """Takes the call that begins at a place; False where none does. JSON that is none stays, as a whole."""
        self._tries += 1
        if is_json:
            return self._json(start)
        if found := marked_at(self._text, start, self._tools, self._lost):
            return self._take((found.entry,), start, found.end, found.raw)
        python = PYTHON.match(self._text, start)
        return python is not None and self._python(python[1], start, python.end())

    def _python(self, source: str, start: int, end: int) -> bool:
        return self._take(python_calls(source, self._tools), start, end, source)

    def _json(self, start: int) -> bool:
        if self._text.startswith("[", start) and _LIST_OF_PYTHON.match(self._text, start):
            end = python_list_end(self._text, start)
            if self._python(self._text[start:end], start, end):
                return True
        value, end, repairs, unclear = self._value(start)
        entries = entries_of(value, self._tools) if end else ()
        if CUT in repairs and not self._may_be_cut(entries):
            return False
        if not end:
            self._broken |= _BROKEN.match(self._text, start) is not None
            return False
        noted = [each._replace(repairs=(*each.repairs, *repairs), unclear=each.unclear or unclear) for each in entries]
        if not self._take(tuple(noted), start, end, self._text[start:end]):
            self._at = end
        return True

    def _value(self, start: int) -> tuple[object, int, tuple[str, ...], bool]:
        """The value that begins at a place, where it ends, how it was put right, whether it has two readings.

        It ends at 0 where there is none.
        """
        try:
            value, end, unclear = loaded_at(self._text, start, strict=False)
        except ValueError:
            pass
        else:
            return value, end, (), unclear
        if self._effort > _EFFORT or not _OBJECTS.match(self._text, start):
            return None, 0, (), False
        try:
            return relaxed_at(self._text, start)
        except Unreadable as error:
            self._effort += error.effort
            return None, 0, (), False

    def _may_be_cut(self, entries: tuple[Entry, ...]) -> bool:
        """Whether these are calls that lack nothing but closing brackets, and of which none is part of the answer."""
        specs = [self._tools.get(each.name) for each in entries]
        return bool(specs) and all(spec is not None and not spec.answers for spec in specs)

    def _take(self, entries: tuple[Entry, ...], start: int, end: int, raw: str) -> bool:
        if not entries or self._quotable.holds(self._text[start:end]):
            return False
        self._at = end
        if not self._calls:
            return True
        if self.has_calls and _INVENTED.search(self._text, self._done, start):
            self.doubt = self.doubt or "the result of a call, or the user's words, are made up before another one"
        self.doubt = self.doubt or self._doubt_at(start, entries)
        self._thought_last = False
        self._emit_until(start)
        self.found += [self._settled(each, raw) for each in entries]
        self._done = end
        return True

    def _doubt_at(self, start: int, entries: tuple[Entry, ...]) -> str:
        """Why a call that is part of the answer may not be one, by the place at which it stands."""
        if all((spec := self._tools.get(each.name)) and not spec.answers for each in entries):
            return ""
        if self._broken:
            return "it stands behind JSON that cannot be read, and may be a part of that"
        line = self._text[self._text.rfind("\n", 0, start) + 1 : start]
        if _QUOTED.search(line):
            return "it stands in a line that is marked as a quotation"
        if _STRUCK.search(line):
            return "it stands in what is struck out or put aside"
        if all(map(_rejects, entries)):
            return ""  # the careful end needs no care, and "I cannot approve this" leads to it
        lead = self._text[max(self._done, start - _LEAD) : start]
        lead = (lead if self._done else self._lead + lead).rstrip(" \t\r\n`~*_").rpartition("\n")[2]
        return f"the words before it may take it back: {lead.strip()[-80:]}" if _TAKING_BACK.search(lead) else ""

    def _settled(self, entry: Entry, raw: str) -> _Call:
        """A call whose arguments can be read, or which whoever reads it refuses and says why."""
        spec = self._tools.get(entry.name)
        try:
            arguments, repairs = argument_text(entry.arguments, spec)
        except RecursionError:
            arguments, repairs = raw, ()
        doubtful = TWO_WAYS & {*entry.repairs} and (spec is None or spec.answers)
        if entry.unclear or doubtful:
            arguments = raw
        return _Call(entry.name, arguments, (*entry.repairs, *repairs))

    def _emit_until(self, end: int) -> None:
        if text := self._text[self._done : end]:
            self.found.append(text)
        self._done = end


_LIST_OF_PYTHON = re.compile(r"\[\s*\w[\w.]*\(")
_OBJECTS = re.compile(r"\{|\[\s*\{")


def _rejects(entry: Entry) -> bool:
    verdict = entry.arguments.get("verdict") if isinstance(entry.arguments, dict) else None
    return isinstance(verdict, str) and verdict.strip().upper() == Verdict.REJECTED


def _cleaned(text: str) -> str:
    """Words beside calls, without marks that say nothing; a lone fence or backtick at their edge belonged to a call."""
    text = NOISE.sub("", text).strip()
    return _STRAY.sub("", text, count=1).strip() if len(_TICKS.findall(text)) % 2 else text


def _leaves_thinking(body: str) -> bool:
    """Whether thinking ends within a fence, by a mark that has a line to itself."""
    first = next((mark for mark in MARK.finditer(body) if not is_named(body, mark)), None)
    if first is None or not ends_thinking(body):
        return False
    line = body[body.rfind("\n", 0, first.start()) + 1 :].partition("\n")[0]
    return line.strip() == first[0].strip()


@lru_cache(maxsize=64)
def _tokens(names: tuple[str, ...], *, brackets: bool) -> re.Pattern[str]:
    """Everything at which a text may stop to be words."""
    tags = "".join(f"|<{re.escape(name)}>" for name in names)
    calls = rf"|(?P<head>{HEAD}{tags})|(?P<bracket>[\[{{])" if brackets else "|(?P<head>(?!))|(?P<bracket>(?!))"
    whole = rf"(?P<mark>{MARK.pattern})|(?P<fence>{_FENCE})|(?P<orphan>{ORPHAN}){calls}"
    return re.compile(whole, re.IGNORECASE | re.MULTILINE)
