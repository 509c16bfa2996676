"""Adapts requests to one model: removes or changes what its endpoint refuses, and remembers it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from swarmgate.domain.capabilities import Capabilities
from swarmgate.domain.text.redaction import redact
from swarmgate.llm.endpoint import refusals
from swarmgate.llm.endpoint.model_memory import Change, ModelMemory
from swarmgate.llm.endpoint.wire import Dialect, characters, estimated_tokens
from swarmgate.llm.events import Adapted, OnEvent

_STATUSES = {400, 403, 404, 405, 415, 422, 500, 501}
"""By which a feature is refused, where the complaint names it."""
_UNNAMED = {400, 422}
"""By which one may be refused without a word of why."""
_UNPAID = 402
"""By which OpenRouter refuses an answer of a length that the account cannot afford, and names one that it can."""
_TRIES = 16
"""Requests that are made for one answer at the most, each otherwise than those before."""
_LEAST_ANSWER = 256
"""Tokens; where there is room for less, the conversation is too long."""


@dataclass
class Negotiation:
    """The attempts for one answer; their findings are stored only when there is an answer.

    `dropped` are features that the endpoint complained about, with its words; `given` those that it asked for after
    all. `on_trial` is left out for once, and the first of `suspects` next; `first` is the complaint that named nothing.
    `longest` is an answer that the endpoint may give, `room` one that the window has room for, `window` its size, and
    `windows` how often it was full all the same.
    """

    dropped: dict[str, str] = field(default_factory=dict)
    given: set[str] = field(default_factory=set)
    on_trial: str = ""
    suspects: list[str] | None = None
    first: refusals.Complaint | None = None
    longest: int | None = None
    shortened: str = ""
    room: int | None = None
    window: int | None = None
    windows: int = 0
    tries: int = 0


class Adaptation:
    """The known limits of a model, and how calls adapt to new ones.

    Args:
        name: `provider/model`.
        base_url: where it is.
        written: features that the user's settings speak of, and whether they are wanted.
        memory: what all models are known for.
        on_event: receives each finding.
        key: is never told.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        *,
        written: Mapping[str, bool],
        memory: ModelMemory,
        on_event: OnEvent,
        key: str,
    ) -> None:
        self._name = name
        self._base_url = base_url
        self._written = written
        self._memory = memory
        self._on_event = on_event
        self._key = key
        self._refused: set[str] = set()
        self._accepted: set[str] = set()

    @property
    def known(self) -> Capabilities:
        """The findings so far."""
        return self._memory.of(self._name, self._base_url)

    def dialect(self, call: Negotiation | None = None) -> Dialect:
        """The form in which a call is made now."""
        found = Dialect.of(self.known, self._written, self._refused)
        if call is None:
            return found
        left_out = (found.left_out - call.given) | call.dropped.keys() | ({call.on_trial} - {""})
        most = call.room or call.longest or found.longest
        return found.model_copy(update={"left_out": left_out, "longest": most})

    def may_learn(self, feature: str) -> bool:
        """Whether the user's settings leave a feature open."""
        return not self._written.get(feature)

    def learn(self, feature: str, complaint: str = "") -> bool:
        """Goes on without a feature, for all roles, now and in later runs; reported to the user once.

        Returns:
            False where the user's settings ask for the feature: nothing changes then.
        """
        if self._written.get(feature):
            return False
        self._change(lambda known: known.without(feature))
        self.report(feature, refusals.otherwise(feature), complaint)
        return True

    def report(self, what: str, reason: str, complaint: str = "") -> None:
        """Reports an adaptation to the user, once a run."""
        if self._memory.first_report(self._name, what):
            self._on_event(Adapted(model=self._name, reason=reason, said=redact(complaint, (self._key,))))

    def answered(self, body: dict[str, Any], call: Negotiation) -> None:
        """A request was answered: what is in it is taken, and what was left out is what it was about."""
        self._accepted |= refusals.sent(body)
        if call.on_trial and call.first:
            call.dropped[call.on_trial] = f"it said: {text}" if (text := call.first.summary) else "it did not say why"
        for feature in call.given:
            self._refused.discard(feature)
            self._change(lambda known, feature=feature: known.with_(feature))  # type: ignore[misc]  # bound now
        for feature, complaint in call.dropped.items():
            self._drop(feature, complaint)
        if call.longest:
            self._change(lambda known: known.model_copy(update={"longest_answer": call.longest}))
            reason = f"it gives no longer answers than {call.longest:,} tokens: of at most as many from here on"
            self.report(f"longest {call.longest}", reason, call.shortened)
        if call.window and self.known.context_tokens is None:
            self._change(lambda known: known.model_copy(update={"context_tokens": call.window}))

    def adapt(self, status: int | None, complaint: refusals.Complaint, body: dict[str, Any], call: Negotiation) -> bool:
        """Decides whether another form of the request is worth a try; the next `dialect` is that one.

        Args:
            status: by which the endpoint refused; None: it was inside of an answer of status 200.
            complaint: what it said.
            body: the request.
            call: what was tried for this answer.
        """
        call.tries += 1
        if refusals.is_misleading(complaint) or call.tries >= _TRIES:
            return False
        if status == _UNPAID:
            return self._affordable(complaint, body, call)
        if status is not None and status not in _STATUSES:
            return False
        return (
            self._has_room(complaint, body, call)
            or self._shorter(complaint, body, call)
            or self._given_back(complaint, call)
            or self._named(complaint, body, call)
            or (status in _UNNAMED and self._tried(complaint, body, call))
        )

    def _has_room(self, complaint: refusals.Complaint, body: dict[str, Any], call: Negotiation) -> bool:
        """The answer that was asked for does not fit beside the prompt: a shorter one may."""
        asked = _asked(body)
        prompt = estimated_tokens(characters(body["messages"]) + len(str(body.get("tools", ""))))
        found = refusals.window(complaint, prompt)
        if asked is None or found is None:
            return False
        size, room = found
        if call.room is not None:  # counted otherwise than we do: a much shorter answer is worth one more try
            room, call.windows = call.room // 2, call.windows + 1
        room -= max(room // 16, 1)
        if not _LEAST_ANSWER <= room < asked or call.windows > 1:
            return False
        call.room, call.window = room, size
        return True

    def _affordable(self, complaint: refusals.Complaint, body: dict[str, Any], call: Negotiation) -> bool:
        """What is left of the money pays for a shorter answer: for this call, since there may be more tomorrow."""
        asked = _asked(body)
        most = asked and refusals.most_tokens(complaint, asked)
        if not most or not _LEAST_ANSWER <= most < asked or call.room is not None:  # type: ignore[operator]  # asked then
            return False
        call.room = most
        return True

    def _shorter(self, complaint: refusals.Complaint, body: dict[str, Any], call: Negotiation) -> bool:
        asked = _asked(body)
        most = asked and refusals.most_tokens(complaint, asked)
        if not most or most < _LEAST_ANSWER:
            return False
        call.longest, call.room, call.shortened = most, None, complaint.summary
        return True

    def _given_back(self, complaint: refusals.Complaint, call: Negotiation) -> bool:
        """What was left out has to be there after all: the endpoint is another than it was."""
        again = refusals.wanted(complaint, self.dialect().left_out - call.given - call.dropped.keys())
        call.given |= {again} - {""}
        return bool(again)

    def _named(self, complaint: refusals.Complaint, body: dict[str, Any], call: Negotiation) -> bool:
        feature = refusals.named(complaint, refusals.sent(body) - call.dropped.keys(), self._accepted)
        if feature:
            call.dropped[feature] = complaint.summary
        return bool(feature)

    def _tried(self, complaint: refusals.Complaint, body: dict[str, Any], call: Negotiation) -> bool:
        """Leaves out one more for once, of what no request was answered with so far; first, nothing at all."""
        if call.suspects is None:
            call.suspects = refusals.suspects(complaint, refusals.sent(body), self._accepted)
            call.first = complaint
            return bool(call.suspects)  # as it is: some refuse an answer of the model, which is another the next time
        call.on_trial = call.suspects.pop(0) if call.suspects else ""
        return bool(call.on_trial)

    def _drop(self, feature: str, complaint: str) -> None:
        """Leaves out what the endpoint refused: it has to be, whatever is written."""
        if not self.learn(feature, complaint):
            self._refused.add(feature)
            self.report(feature, refusals.otherwise(feature), complaint)

    def _change(self, change: Change) -> None:
        self._memory.learn(self._name, self._base_url, change)


def _asked(body: dict[str, Any]) -> int | None:
    """The longest answer that a request allows, in tokens."""
    asked: int | None = body.get("max_tokens") or body.get("max_completion_tokens")
    return asked
