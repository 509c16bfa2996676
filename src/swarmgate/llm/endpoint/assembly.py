"""Assembles the bytes of an answer, streamed or not, into text, tool calls and usage, in bounded memory."""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from swarmgate.domain.usage import Usage
from swarmgate.llm.endpoint import refusals
from swarmgate.llm.endpoint.newest_words import newest_of_call, newest_words
from swarmgate.llm.endpoint.opaque_fields import MESSAGE, OpaqueFields, extra_fields, of_call
from swarmgate.llm.endpoint.repetition import Repetition
from swarmgate.llm.endpoint.web_pages import is_page
from swarmgate.llm.model import ToolCall

MAX_REPLY = 1_000_000
"""Characters of text and arguments; a longer answer is cut off, no usable one comes near."""

MAX_BODY = 4 * MAX_REPLY
"""Bytes of one JSON body or one line of a stream; JSON escapes and framing included."""

MAX_HEAD = 64_000
"""Bytes that are kept of what is no answer, to say what it is."""

_CUT_OFF = re.compile(r"length|max(imum)?[_ ]?(output[_ ]|completion[_ ])?tokens", re.IGNORECASE)
"""How endpoints spell `length`: `max_tokens` (Anthropic), `MAX_TOKENS` (Gemini), `model_length` (Mistral)."""

_FAILED = re.compile(r"error|abort|cancel|fail|interrupt|time_?out|insufficient", re.IGNORECASE)
"""How they spell that the answer is not whole, since something went wrong on their side."""

_NONE = re.compile(r"\A\s*(null)?\s*\Z")
"""How servers spell no arguments at all."""

STORED_CHARACTERS = 4_000
"""Characters of text that stay of an answer that was too long: enough to see what the model was at."""


_WORDS = ("text", "output_text", None)
"""Types of parts of a message that are words of the model."""


class Malformed(ValueError):
    """Raised when the bytes are not a chat completion."""


class NoAnswer(Malformed):
    """Raised when the bytes are something else altogether: `head` is how they begin."""

    def __init__(self, head: bytes) -> None:
        super().__init__("no chat completion")
        self.head = head[:MAX_HEAD]


class Refused(ValueError):
    """The endpoint answered 200 and reported an error inside of it; `status` is the one that it should have had."""

    def __init__(self, error: Any) -> None:
        self.complaint = refusals.read(error, "no reason given")
        super().__init__(self.complaint.text[:1000])
        code = self.complaint.code
        self.status = int(code) if re.fullmatch("[45][0-9]{2}", code) else None


@dataclass
class _Slot:
    """A tool call while it arrives."""

    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    opaque: OpaqueFields = field(default_factory=OpaqueFields)
    watch: Repetition = field(default_factory=lambda: Repetition(files=True))


class Assembly:
    """Collects the chunks of a streamed answer, or the one body of another."""

    def __init__(self) -> None:
        self.finish_reason = ""
        self.too_long = False
        self.repeats = False
        self.size = 0
        self.usage: Usage | None = None
        self._text: list[str] = []
        self._declined: list[str] = []
        self._opaque = OpaqueFields()
        self._watches: dict[str, Repetition] = {}
        self._slots: list[_Slot] = []
        self._places: dict[int, _Slot] = {}

    def add(self, chunk: Any) -> None:
        """Take in one chunk, or a whole completion.

        Raises:
            Malformed: it has not the shape of one.
            Refused: it is an error report.
        """
        if not isinstance(chunk, dict):
            raise Malformed("not a JSON object")
        if error := _error(chunk):
            raise Refused(error)
        self.usage = _usage(chunk.get("usage")) or self.usage
        choices = chunk.get("choices") or []
        if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
            raise Malformed("`choices` is not a list of objects")
        for choice in choices[:1]:
            self.finish_reason = _reason(choice.get("finish_reason")) or self.finish_reason
            try:
                self._add_message(choice.get("delta") or choice.get("message") or {}, whole=not choice.get("delta"))
            except RecursionError as error:
                raise Malformed("the message is nested too deeply") from error
        self.too_long = self.size > MAX_REPLY

    @property
    def enough(self) -> bool:
        """Whether nothing more is wanted of the answer."""
        return self.too_long or self.repeats

    @property
    def begun(self) -> bool:
        """Whether anything of the answer is there yet."""
        return self.size > 0 or bool(self._slots)

    @property
    def newest(self) -> str:
        """The newest words of it, for a live display."""
        last = self._slots[-1] if self._slots else None
        return newest_of_call(last.name, last.arguments) if last else newest_words(self._text)

    @property
    def text(self) -> str:
        """What was said; only the beginning of an answer that was too long or repeats itself."""
        text = "".join(self._text) or "".join(self._declined)
        if self.repeats and (watch := self._watches.get("content")):
            text = text[: watch.found]
        return text[:STORED_CHARACTERS] if self.enough else text

    @property
    def tool_calls(self) -> tuple[ToolCall, ...]:
        """The tools called; none of an answer that was too long or repeats itself."""
        if self.enough:
            return ()
        return tuple(
            ToolCall(
                id=slot.id or f"call_{number}",
                name=slot.name,
                arguments=_NONE.sub("{}", _arguments(slot.arguments)),
                opaque=slot.opaque.text,
            )
            for number, slot in enumerate(_distinct(self._slots))
        )

    @property
    def opaque(self) -> str:
        """Provider-specific fields of the answer, as JSON (`opaque_fields`); empty for an answer that was too long."""
        return "" if self.enough else self._opaque.text

    def _add_message(self, message: Any, *, whole: bool) -> None:
        if not isinstance(message, dict):
            raise Malformed("the message is not an object")
        text = _content(message.get("content"))
        if whole and text and self._text and text.startswith(before := "".join(self._text)):
            text = text[len(before) :]  # the last chunk of some streams is the whole message once more
        self._text.append(text)
        more = extra_fields(message, MESSAGE)
        self.size += len(text) + self._opaque.add(more)
        for name, value in {**more, "content": text}.items():
            if isinstance(value, str) and value:
                self.repeats |= self._watches.setdefault(name, Repetition()).feed(value)
        self._declined.append(_content(message.get("refusal")))
        for number, delta in enumerate(_calls_of(message)):
            if not isinstance(delta, dict):
                raise Malformed("a tool call is not an object")
            self._add_call({"index": number, **delta} if whole else delta)

    def _add_call(self, delta: dict[str, Any]) -> None:
        function = delta.get("function") or {}
        if not isinstance(function, dict):
            raise Malformed("the function of a tool call is not an object")
        slot = self._slot(delta)
        slot.id = slot.id or str(delta.get("id") or "")
        slot.name = _joined(slot.name, str(function.get("name") or ""))
        arguments = function.get("arguments") or ""
        arguments = arguments if isinstance(arguments, str) else json.dumps(arguments)
        slot.arguments.append(arguments)
        self.size += len(arguments) + slot.opaque.add(of_call(delta, function))
        self.repeats |= slot.watch.feed(arguments)

    def _slot(self, delta: dict[str, Any]) -> _Slot:
        """The call that a delta continues, or a new one.

        By the protocol `index` tells them apart. Some endpoints leave it out, others send 0 for every call: there a
        new id begins a new call, if a name comes with it; others make up an id for each chunk.
        """
        index, call_id = _index(delta.get("index")), delta.get("id")
        if (place := index) is None:
            begins = not self._slots or (call_id and call_id != self._slots[-1].id and _name(delta))
            place = len(self._slots) if begins else -1
        slot = self._slots[-1] if place == -1 else self._places.get(place)
        another = bool(slot and call_id and slot.id and call_id != slot.id) and bool(_name(delta))
        if slot is None or another or _begins(delta, slot):
            slot = _Slot()
            self._slots.append(slot)
            self._places[place] = slot
        return slot


class JsonBody:
    """An answer in one JSON object."""

    def __init__(self, assembly: Assembly) -> None:
        self.done = False
        self._assembly = assembly
        self._data = bytearray()

    def feed(self, data: bytes) -> bool:
        """Take in bytes; False when nothing more is wanted."""
        self._data += data
        self._assembly.too_long = len(self._data) > MAX_BODY
        self._assembly.size = len(self._data) if self._assembly.too_long else 0
        return not self._assembly.too_long

    def finish(self) -> None:
        """The body is complete.

        Raises:
            Malformed, Refused: as `Assembly.add`.
        """
        if self._assembly.too_long:
            return
        data = bytes(self._data)
        if is_page(data):
            raise NoAnswer(data)
        value = _json(data)
        if isinstance(value, dict) and not ({"choices", "usage"} & value.keys() or _error(value, streamed=False)):
            raise NoAnswer(data)
        self._assembly.add(value)


class EventBody:
    """An answer as server-sent events, one JSON chunk on each `data:` line, `[DONE]` on the last.

    A chunk may stand on several lines, as the standard has it. What does not begin as JSON keeps the connection open.
    """

    def __init__(self, assembly: Assembly) -> None:
        self.done = False
        self._assembly = assembly
        self._rest = b""
        self._open = bytearray()
        self._head = bytearray()
        self._events = False

    def feed(self, data: bytes) -> bool:
        """Take in bytes; False when nothing more is wanted.

        Raises:
            Malformed, Refused: as `Assembly.add`.
        """
        if not self._events and len(self._head) < MAX_BODY:
            self._head += data
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._line(line.removeprefix(codecs.BOM_UTF8).strip())
        if (held := len(self._rest) + len(self._open)) > MAX_BODY:
            self._assembly.too_long, self._assembly.size = True, self._assembly.size + held
        return not self._assembly.enough

    def _line(self, line: bytes) -> None:
        payload = line.removeprefix(b"data:").strip()
        if self._open and not line:
            held, self._open = self._open, bytearray()
            self._assembly.add(_json(held))
        if not line.startswith(b"data:") or self.done:
            return
        if payload == b"[DONE]":
            self.done = self._events = True
        elif self._open:
            self._open += b"\n" + payload
        elif payload[:1] in (b"{", b"["):  # else a comment that a gateway passed on as data
            self._events = True
            try:
                chunk = _json(payload)
            except Malformed:
                self._open += payload  # it may go on in the next line
            else:
                self._assembly.add(chunk)

    def finish(self) -> None:
        """The stream has ended.

        Raises:
            Malformed: before the answer did.
        """
        if self._assembly.enough:
            return
        self.feed(b"\n\n")
        if not self._events:
            self._whole()
            return
        if not (self.done or self._assembly.finish_reason):
            raise Malformed("the stream broke off before the answer was complete")

    def _whole(self) -> None:
        """There was no event: perhaps it is the answer in one JSON body, under another name."""
        head = bytes(self._head).strip()
        line = head.partition(b"\n")[0]
        if not head.startswith(b"{") or (line != head and line.endswith(b"}")):  # the latter: an object a line
            raise NoAnswer(line if line.startswith(b"{") else head)
        body = JsonBody(self._assembly)
        body.feed(head)
        body.finish()


def _json(data: bytes | bytearray) -> Any:
    try:
        return json.loads(data.removeprefix(codecs.BOM_UTF8), strict=False)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"invalid JSON: {error}") from error


def _error(chunk: dict[str, Any], *, streamed: bool = True) -> Any:
    """The error report that a chunk is, or holds; None where it is none.

    Where there are no choices, `errors` is one too, MiniMax's `base_resp`, and in a stream `detail` and `message`.
    """
    choices = chunk.get("choices") or [{}]
    inner = choices[0].get("error") if isinstance(choices, list) and isinstance(choices[0], dict) else None
    if error := chunk.get("error") or inner:
        return error
    if chunk.get("choices"):
        return None
    base = chunk.get("base_resp")
    if isinstance(base, dict) and base.get("status_code"):
        return {"message": base.get("status_msg") or str(base), "code": base["status_code"]}
    keys = ("detail", "message", "msg") if streamed else ()
    return chunk.get("errors") or next((chunk for each in keys if isinstance(chunk.get(each), str)), None)


def _reason(value: Any) -> str:
    """Why an answer ended, in the protocol's word where it is too long.

    Raises:
        Refused: something went wrong on the endpoint's side, and the answer is not whole.
    """
    reason = str(value or "")
    if _FAILED.search(reason):
        raise Refused({"message": f"the answer broke off (finish_reason {reason[:40]})"})
    return "length" if _CUT_OFF.search(reason) else reason


def _index(value: Any) -> int | None:
    """The place of a call in the reply; some endpoints say it as text, or as 0.0."""
    try:
        return int(value) if isinstance(value, int | float | str) else None
    except (ValueError, OverflowError):
        return None


def _name(delta: dict[str, Any]) -> str:
    function = delta.get("function")
    return str(function.get("name") or "") if isinstance(function, dict) else ""


def _distinct(slots: list[_Slot]) -> list[_Slot]:
    """The calls, each once: not those that name and say nothing, nor one that came again under its own id."""
    found: list[_Slot] = []
    seen: set[tuple[str, str, str]] = set()
    for slot in slots:
        key = (slot.id, slot.name, _arguments(slot.arguments))
        if not any(key[1:]) or (slot.id and key in seen):
            continue
        seen.add(key)
        found.append(slot)
    return found


def _arguments(pieces: list[str]) -> str:
    """Arguments out of their pieces: joined; where that is no JSON, the last, if it is all of those before and whole.

    Some endpoints send all that there is in each chunk, or all of it once more in the last.
    """
    text = "".join(pieces)
    filled = [piece for piece in pieces if piece.strip()]
    if len(filled) < 2 or _is_object(text) or not _is_object(filled[-1]):  # noqa: PLR2004 - two pieces
        return text
    before = "".join(filled[:-1])
    again = before in (filled[-1], "{}") or all(later.startswith(piece) for piece, later in pairwise(filled))
    return filled[-1] if again else text


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text, strict=False), dict)
    except (ValueError, RecursionError):
        return False


def _content(content: Any) -> str:
    """Text, or the text of a list of parts; a part that thinks has none."""
    if isinstance(content, dict):
        content = [content]
    if isinstance(content, list):
        parts = (part for part in content if isinstance(part, dict) and part.get("type", "text") in _WORDS)
        content = "".join(str(part.get("text") or "") for part in parts)
    return content if isinstance(content, str) else ""


def _calls_of(message: dict[str, Any]) -> list[Any]:
    """The calls of a message, or of a delta; the one in the field that OpenAI's API had before `tools` is the first."""
    old = message.get("function_call")
    found = message.get("tool_calls") or ([{"index": 0, "function": old}] if old else [])
    if not isinstance(found, list):
        raise Malformed("`tool_calls` is not a list")
    return found


def _begins(delta: dict[str, Any], slot: _Slot) -> bool:
    """Whether a delta begins another call, whatever its id: it names another tool, and the last one has arguments."""
    name = _name(delta)
    return bool(name) and name != slot.name and any(slot.arguments)


def _joined(name: str, more: str) -> str:
    """A name that comes in pieces, or again and again."""
    return more if more.startswith(name) else name if name.startswith(more) else name + more


def _usage(report: Any) -> Usage | None:
    if not isinstance(report, dict):
        return None
    details = report.get("prompt_tokens_details")
    prompt = _count(report.get("prompt_tokens"))
    completion = _count(report.get("completion_tokens"))
    if not prompt and not completion:
        return None
    cached = _count(details.get("cached_tokens")) if isinstance(details, dict) else 0
    return Usage(prompt_tokens=prompt, completion_tokens=completion, cached_tokens=min(cached, prompt))


def _count(value: Any) -> int:
    return max(0, int(value)) if isinstance(value, int | float) and value == value and abs(value) < 1e12 else 0  # noqa: PLR0124, PLR2004 - NaN
