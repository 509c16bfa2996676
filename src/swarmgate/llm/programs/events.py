"""Parses the events that command-line agents print. Pure.

    codex exec --json                                  thread.started, item.started, item.completed, turn.completed
    claude -p --output-format stream-json --verbose    system, assistant, user, result
    opencode run --format json                         step_start, tool_use, text, step_finish, error
    gemini --output-format stream-json                 init, message, tool_use, tool_result, result

The whole answers of `claude --output-format json` and `gemini --output-format json` are events too: the last one alone.
"""

from __future__ import annotations

from typing import Any

from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage

_SUMMARY = 120
_MOST = 10**12
"""Tokens and dollars of a call that are believed at most."""
_TELLING = (
    "command",
    "cmd",
    "file_path",
    "filePath",
    "path",
    "absolute_path",
    "pattern",
    "query",
    "url",
    "description",
)
"""Arguments of tools that say most about a use, the most telling first."""


class Use(Frozen):
    """A program uses a tool of its own; `summary` is one line: the command, the file."""

    tool: str
    summary: str = ""


class Event(Frozen):
    """What an event says; every field may say nothing.

    `text` is of the answer; with `joins` it goes on with the text before, else it stands in its place. `begins`: a new
    message begins. `usage` belongs to `part`, a message or a step, whose earlier count it replaces; with `whole` it is
    the sum of all. `denied` names tools that the program was not permitted to use.
    """

    uses: tuple[Use, ...] = ()
    text: str | None = None
    joins: bool = False
    begins: bool = False
    usage: Usage | None = None
    part: str = ""
    whole: bool = False
    error: str = ""
    denied: tuple[str, ...] = ()


class LastWords:
    """The text of a program that arrives in pieces; of very much, the end is stored."""

    def __init__(self, most: int = 1_000_000) -> None:
        self._most = most
        self.clear()

    def clear(self) -> None:
        """Forgets the text so far."""
        self._pieces: list[str] = []
        self._size = 0

    def add(self, text: str) -> None:
        """Takes the next piece."""
        self._pieces.append(text)
        self._size += len(text)
        if self._size > 2 * self._most:
            self._pieces = [self.text[-self._most :]]
            self._size = len(self._pieces[0])

    @property
    def text(self) -> str:
        """All stored text."""
        return "".join(self._pieces)


def read(value: dict[str, Any]) -> Event:
    """The event of one JSON object; one that says nothing where it is none that is known."""
    kind = str(value.get("type"))
    if isinstance(value.get("part"), dict) or kind == "error":
        return _of_opencode(value, kind)
    if kind.startswith(("item.", "turn.", "thread.")):
        return _of_codex(value, kind)
    if kind in {"assistant", "result"} and "stats" not in value:
        return _of_claude(value, kind)
    return _of_gemini(value, kind)


def use(tool: str, arguments: Any) -> Use:
    """A tool and the most telling of its arguments, on one line."""
    found = arguments if isinstance(arguments, dict) else {}
    value = next((found[name] for name in _TELLING if isinstance(found.get(name), str | list)), "")
    words = " ".join(map(str, value)) if isinstance(value, list) else value
    return Use(tool=" ".join(tool.split())[:40], summary=" ".join(words.split())[:_SUMMARY])


def usage_of(counts: Any, cost: Any = None) -> Usage | None:
    """The tokens that a program reports, as Anthropic, OpenAI, OpenCode and Gemini name them; cost where it says one.

    A cost of nothing for tokens that were used is taken for unknown: programs say so of models that they have no price
    for.
    """
    if not isinstance(counts, dict):
        return None
    cache = _dict(counts.get("cache"))
    cached = _number(counts, "cache_read_input_tokens", "cached_input_tokens", "cached") or _number(cache, "read")
    prompt = _number(counts, "input_tokens", "prompt_tokens", "input", "prompt")
    if "cache_read_input_tokens" in counts or cache:  # these count cached tokens beside the input, the others within
        prompt += cached + _number(counts, "cache_creation_input_tokens") + _number(cache, "write")
    completion = _number(counts, "output_tokens", "completion_tokens", "output", "candidates")
    completion += _number(counts, "reasoning") + _number(counts, "thoughts")
    return Usage(prompt_tokens=prompt, cached_tokens=cached, completion_tokens=completion, usd=money(cost) or None)


def _of_claude(value: dict[str, Any], kind: str) -> Event:
    if kind == "result":
        result = value.get("result")
        failed = bool(value.get("is_error")) or str(value.get("subtype", "")).startswith("error")
        text = result if isinstance(result, str) else None
        return Event(
            text=text,
            error=(text or str(value.get("subtype") or "it failed")) if failed else "",
            usage=usage_of(value.get("usage"), value.get("total_cost_usd")),
            whole=True,
            denied=tuple(str(each.get("tool_name", "?")) for each in _dicts(value.get("permission_denials"))),
        )
    message = value.get("message")
    if not isinstance(message, dict):
        return Event()
    blocks = _dicts(message.get("content"))
    uses = tuple(
        use(str(each.get("name", "?")), each.get("input")) for each in blocks if each.get("type") == "tool_use"
    )
    return Event(uses=uses, usage=usage_of(message.get("usage")), part=str(message.get("id", "")))


def _of_codex(value: dict[str, Any], kind: str) -> Event:
    if kind == "turn.failed":
        return Event(error=_message(value.get("error")))
    if kind == "turn.completed":
        return Event(usage=usage_of(value.get("usage")), whole=True)
    item = value.get("item")
    if not isinstance(item, dict):
        return Event()
    what = str(item.get("type"))
    if what == "agent_message" and isinstance(item.get("text"), str):
        return Event(text=item["text"]) if kind == "item.completed" else Event()
    if what == "file_change" and kind == "item.completed":
        return Event(uses=tuple(use("file_change", change) for change in _dicts(item.get("changes"))))
    if kind == "item.started" and what in {"command_execution", "mcp_tool_call", "web_search"}:
        return Event(uses=(use(str(item.get("tool") or what), item),))
    return Event()


def _of_opencode(value: dict[str, Any], kind: str) -> Event:
    if kind == "error" and value.get("severity") == "warning":
        return Event()
    if kind == "error":
        return Event(error=_message(value.get("error") or value))
    part = value["part"]
    if kind == "step_start":
        return Event(begins=True)
    if kind == "text" and isinstance(part.get("text"), str):
        return Event(text=part["text"], joins=True)
    if kind == "tool_use":
        state = _dict(part.get("state"))
        return Event(uses=(use(str(part.get("tool", "?")), state.get("input")),))
    if kind == "step_finish":
        return Event(usage=usage_of(part.get("tokens"), part.get("cost")), part=str(part.get("id") or id(value)))
    return Event()


def _of_gemini(value: dict[str, Any], kind: str) -> Event:
    if kind == "message":
        content = value.get("content") if value.get("role") == "assistant" else None
        return Event(text=content, joins=True) if isinstance(content, str) else Event(begins=True)
    if kind == "tool_use":
        return Event(uses=(use(str(value.get("tool_name", "?")), value.get("parameters")),), begins=True)
    if "stats" not in value:
        return Event()
    stats = _dict(value["stats"])
    models = _dict(stats.get("models"))
    counts = [each.get("tokens") for each in _dicts(list(models.values()))] or [stats]
    usages = [found for each in counts if (found := usage_of(each)) is not None and found.tokens]
    failed = value.get("status") == "error" or isinstance(value.get("error"), dict)
    return Event(
        text=value["response"] if isinstance(value.get("response"), str) else None,
        usage=sum(usages, Usage(usd=None)) if usages else None,
        whole=True,
        error=_message(value.get("error") or value) if failed else "",
    )


def _message(error: Any) -> str:
    if not isinstance(error, dict):
        return str(error)
    inner = _dict(error.get("data"))
    return str(error.get("message") or inner.get("message") or error.get("name") or error)[:2_000]


def _dict(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _dicts(values: Any) -> list[dict[str, Any]]:
    return [each for each in values if isinstance(each, dict)] if isinstance(values, list) else []


def money(value: Any) -> float:
    """An amount as a program tells it; 0 where it is none that anybody could spend."""
    return float(value) if type(value) in {int, float} and 0 < value < _MOST else 0.0


def _number(counts: dict[str, Any], *names: str) -> int:
    return min(max(next((counts[name] for name in names if type(counts.get(name)) is int), 0), 0), _MOST)
