"""Parses answers of experts, contrarian and cross-domain expert: positions, arguments with links, responses.

Each form comes to a `Part`: the fields of the message that an answer makes. What the form asks for and the answer does
not have is asked for once more (`Unread`); where the answer still says something, it is kept without that, noted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from swarmgate.agents.tools.answer_text import Unread
from swarmgate.agents.tools.answers import Form
from swarmgate.council.discussion.answers.schemas import (
    NO_CONDITION,
    Argument,
    Declaration,
    Movement,
    Reference,
    Response,
    condition,
)
from swarmgate.council.discussion.answers.values import known, message_ids, with_round
from swarmgate.council.discussion.argument.structure import link_problem, steel_manned
from swarmgate.council.discussion.model import Link, Relation, Shift, ShiftKind
from swarmgate.council.participants.answer_prose import prose_of, shortened, text_under
from swarmgate.domain.review.votes import MESSAGE_ID

Part = dict[str, Any]
"""Fields of a `Message`."""

_DISSENT = (Relation.COUNTERS, Relation.QUESTIONS)
_RESTATED = re.compile(r"\bI understand [^:\n]{0,60}:\s*(.+?)\s*\bMy (?:main )?concern\b", re.IGNORECASE | re.DOTALL)
"""A steel-man in prose: `Let me confirm that I understand the position: ... My concern with this is: ...`."""


@dataclass(slots=True)
class _Read:
    """What is found in an answer: links, ids that were not shown, and what is wrong, a sentence each."""

    links: dict[tuple[str, Relation], Link] = field(default_factory=dict)
    unresolved: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Reader:
    """The forms of the answers of `author`.

    `seen` are the authors of the messages that it was shown, by id; `stands` is the position that it declared last,
    `stress` the id of the newest attack on what is agreed.
    """

    author: str
    seen: Mapping[str, str]
    stands: str = ""
    stress: str = ""

    @property
    def position(self) -> Form[Declaration, Part]:
        """A position declaration.

        Without a confidence that is a number of 0 to 1, or without what would change it, it is kept without, noted.
        """
        return Form(Declaration, _declared, prose=prose_of)

    @property
    def argument(self) -> Form[Argument, Part]:
        """An argument. One that links to nothing, or counters without a steel-man, is kept, asked once more."""
        return Form(Argument, self._argued, prose=_prose, optional=True)

    @property
    def attack(self) -> Form[Argument, Part]:
        """An attack: an argument that counters or questions something; one that does not is kept, asked once more."""
        return Form(Argument, self._attacked, prose=_prose, optional=True)

    @property
    def response(self) -> Form[Response, Part]:
        """A response; a shift without a reason, or that cites nothing that moved it, is none, asked once more."""
        return Form(Response, self._responded, prose=_prose, optional=True)

    # --- what answers come to ---

    def _argued(self, given: Argument) -> Part:
        part, problems = self._linked(given)
        return _checked_part(part, problems or _uncited(part))

    def _attacked(self, given: Argument) -> Part:
        part, problems = self._linked(given)
        if not any(each.kind in _DISSENT for each in part["links"]):
            problems.append("It neither counters nor questions any message that you were shown.")
        return _checked_part(part, problems)

    def _responded(self, given: Response) -> Part:
        part, problems = self._linked(given)
        shift, unresolved, wrong = self._shift(given.shift, moved=given.position not in ("", self.stands))
        problems += [wrong] if wrong else []
        part["shift"] = shift
        part["unresolved"] = tuple(dict.fromkeys((*part["unresolved"], *unresolved)))
        if given.position and not shift.refused:
            part["position"], wrongs = given.stand()
            problems += wrongs if "confidence" in given.model_fields_set else []  # none at all: it is as sure as before
        return _checked_part(part, problems or _uncited(part))

    # --- links ---

    def _linked(self, given: Argument) -> tuple[Part, list[str]]:
        """Text and links of an answer, and what is wrong with them, a sentence each."""
        text, cut = shortened(given.text)
        if not text:
            raise Unread("Your answer has no prose.")
        read = _Read(problems=[given.conflict] if given.conflict else [])
        countered = [
            with_round(each.to[0], self.seen) for each in given.links if each.kind is Relation.COUNTERS and each.to
        ]
        restated = _restated(text, countered)
        if given.steel_man and len(countered) == 1:
            restated[countered[0]] = given.steel_man
        for each in given.links:
            self._link(each, read, restated)
        self._mentioned((*given.references, *given.cites), read, typed=True)
        if read.unresolved:
            read.problems.append(f"You were shown no message {', '.join(read.unresolved[:5])}.")
        self._mentioned(MESSAGE_ID.findall(text), read, typed=False)
        noted = (*given.noted, *([cut] if cut else []), *_weak(read.links.values()))
        part: Part = {"text": text, "links": tuple(read.links.values()), "noted": noted}
        part["would_change_if"] = condition(given.would_change_if)
        return part | {"unresolved": tuple(dict.fromkeys(read.unresolved))}, read.problems

    def _link(self, each: Reference, read: _Read, restated: Mapping[str, str]) -> None:
        """A link as it was asked for; `restated` has steel-mans that stand beside the links, by id."""
        to = with_round(next(iter(each.to), ""), self.seen)
        if not to or each.kind is None:
            read.problems.append(f"A link has a message id as `to` and a `kind` of {', '.join(Relation)}.")
            return
        steel_man = (each.steel_man or restated.get(to, "")) if each.kind is Relation.COUNTERS else ""
        link = Link(to=to, kind=each.kind, steel_man=steel_man, comment=each.comment)
        if to not in self.seen:
            read.unresolved.append(to)
        elif wrong := link_problem(link, self.author, self.seen):
            read.problems.append(f"{wrong}.")
        else:
            read.links.setdefault((to, each.kind), link)
            if each.kind is Relation.COUNTERS and not steel_man:
                read.problems.append(f"You counter {to} without a `steelMan`, the strongest form of what it says.")

    def _mentioned(self, ids: Collection[str], read: _Read, *, typed: bool) -> None:
        """Ids without a kind: those that nothing else links to are answered; an own one is no link."""
        linked = {to for to, _ in read.links}
        for to in (with_round(each, self.seen) for each in ids):
            if to not in self.seen:
                # What is listed and is no id at all says where something was read, not which message.
                read.unresolved += [to] if not typed or MESSAGE_ID.fullmatch(to) else []
            elif to not in linked and self.seen[to] != self.author:
                link = Link(to=to, kind=Relation.RESPONDS_TO)
                read.links.setdefault((to, link.kind), link)

    # --- shifts ---

    def _shift(self, given: Movement, *, moved: bool) -> tuple[Shift, tuple[str, ...], str]:
        """The shift of an answer, ids in it that were not shown, and what is wrong with it.

        Who moved and cites nothing answers the stress test: that is what the step asks for. Who `moved` to another
        position and does not say how far has not.
        """
        kind, reason = given.kind, given.reason
        if kind is None:
            refused = "a position that is new came without the kind of its shift, and was refused" if moved else ""
            return Shift(refused=refused), (), f"`shift` must have a `kind` of {', '.join(ShiftKind)}."
        cites, unresolved = known(given.cites or (filter(None, [self.stress])), self.seen)
        moved_by = tuple(each for each in cites if self.seen[each] != self.author)
        if kind is ShiftKind.NONE:
            return Shift(reason=reason, cites=moved_by if given.cites else ()), unresolved, ""
        if not moved_by:
            why = f"a claimed {kind} shift was refused: it cites no message that moved it"
            problem = f"A {kind} shift must cite, in `shift.cites`, a message of another voice that moved you."
            return Shift(reason=reason, refused=why), unresolved, problem
        if not reason:
            why = f"a claimed {kind} shift was refused: it gives no reason"
            return Shift(refused=why), unresolved, f"A {kind} shift must say why, in `shift.reason`."
        before = given.previous_position or self.stands
        return Shift(kind=kind, previous_position=before, reason=reason, cites=moved_by), unresolved, ""


def _declared(given: Declaration) -> Part:
    position, problems = given.stand()
    problems += [] if position.would_change_if else [NO_CONDITION]
    text = shortened(given.text)[0] or position.position
    return _checked_part({"text": text, "position": position, "noted": given.noted}, problems)


def _prose(text: str) -> str:
    """The prose of an answer, or what it has under the key that is asked for."""
    return text_under(text, ("text",))


def _restated(text: str, countered: Sequence[str]) -> dict[str, str]:
    """The steel-mans in prose by what they restate: the message that is named last before one, or the only one."""
    made: dict[str, str] = {}
    begin = 0
    for found in _RESTATED.finditer(text):
        named = [each for each in message_ids(text[begin : found.start()]) if each in countered]
        begin = found.end()
        if to := named[-1:] or countered[: len(countered) == 1]:
            made.setdefault(to[0], found[1].strip("[] "))
    return made


def _weak(links: Collection[Link]) -> tuple[str, ...]:
    weak = [each.to for each in links if each.steel_man and not steel_manned(each)]
    return (f"a steel-man of fewer than three words counts as none: {', '.join(weak)}",) if weak else ()


def _uncited(part: Part) -> list[str]:
    return [] if part["links"] else ["It links to no message that you were shown: answer one of them."]


def _checked_part(part: Part, problems: list[str]) -> Part:
    """The part, if nothing is wrong with it.

    Raises:
        Unread: something is; asked once more, it is kept with that noted.
    """
    if not problems:
        return part
    listed = tuple(dict.fromkeys(problems))
    raise Unread(" ".join(listed), otherwise={**part, "noted": (*part.get("noted", ()), *listed)})
