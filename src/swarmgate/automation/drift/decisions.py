r"""Collects the decisions of a project from phase checkpoints and from the user's lines in context.md.

    ## Decisions
    - D1 [open] (phase 2): Use argon2 for password hashes
    - Sessions live in Redis
    - D3 [superseded by D4]: Configuration files are TOML

Bullets under a heading that is `Decisions` are decisions, and so is a bullet anywhere that has an id and a status. The
derived block of the file is passed over: what stands there comes from the ledger.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from swarmgate.automation.drift.comparison import Index, LaterText
from swarmgate.automation.drift.opposite_words import CLOSING
from swarmgate.automation.drift.report import Decision, DecisionStatus, Place, TextKind
from swarmgate.automation.drift.tokens import rows
from swarmgate.domain.state.state import State
from swarmgate.ledger.context.context_file import blocks

_HEADING = re.compile(r"#{1,6}\s*(?P<title>.*?)[\s#:]*$")
_TITLE = re.compile(
    r"(?:(?:architecture|architectural|design|key|our|open|technical)\s+)?decisions?(?:\s+(?:log|record|records))?",
    re.IGNORECASE,
)
_BULLET = re.compile(r"(?P<indent>[ \t]*)(?:[-*+]|\d{1,3}[.)])[ \t]+(?P<rest>\S.*)$")
_STATUS = r"\[(?P<status>[A-Za-z][\w ,.-]*)\]"
_FORM = re.compile(
    rf"(?:\*\*)?(?P<id>(?:ADR|DEC|D)-?\d[\w.-]*\w|(?:ADR|DEC|D)-?\d)?(?:\*\*)?[ \t]*(?:{_STATUS})?[ \t]*"
    r"(?:\((?:goal[ \t]+(?P<goal>\d{1,6}),?[ \t]*)?(?:phase[ \t]+(?P<phase>\d{1,6}))?\))?"
    r"[ \t]*[:\u2013\u2014-]?[ \t]*(?P<text>.*)$",
    re.IGNORECASE,
)
_CLOSED = {
    **dict.fromkeys(
        ("superseded", "reversed", "replaced", "deprecated", "closed", "obsolete"), DecisionStatus.SUPERSEDED
    ),
    **dict.fromkeys(("rejected", "proposed", "declined"), DecisionStatus.REJECTED),
}
_NAMED = re.compile(
    r"\b(?:replaces?|supersedes?|superseding|reverses?|overrides?|revokes?|instead of|withdraws?)\s+"
    r"(?:decision\s+)?(\w[\w.-]*)"
)
_BY = re.compile(r"\bby\s+([A-Za-z]+-?\d[\w.-]*)")
_TASK_BOX = re.compile(r"^\[[ xX]\][ \t]*")


def recorded(state: State, seqs: Mapping[tuple[int, int], int]) -> tuple[Decision, ...]:
    """The decisions of closed phases, in order; their ids are `D<goal>.<phase>.<n>`.

    Args:
        state: the fold.
        seqs: the ledger position at which each (goal, phase) was closed.
    """
    return tuple(
        Decision(
            id=f"D{goal}.{phase}.{number}",
            text=text,
            phase=phase,
            goal=goal,
            place=Place(seq=seqs.get((goal, phase), 0), what=f"decided at the end of phase {phase}"),
        )
        for goal, phase in sorted(state.memory)
        for number, text in enumerate(state.memory[goal, phase].decisions, start=1)
        if text
    )


def written(text: str, *, file: str) -> tuple[Decision, ...]:
    """The decisions that a user wrote in a context.md. Those without an id are called after their line: `L12`."""
    found: list[Decision] = []
    for number, match, titled in _bullets(text):
        decision = _decision(_TASK_BOX.sub("", match["rest"]), number, file, titled=titled)
        if decision is not None:
            found.append(decision)
    return tuple(found)


def _bullets(text: str) -> Iterator[tuple[int, re.Match[str], bool]]:
    """(line from 1, bullet, whether a heading `Decisions` stands above it); not in derived blocks and fences."""
    inside = fenced = False
    derived = {number + 1 for block in blocks(text) for number in range(block.first, block.last + 1)}
    for number, line in enumerate(rows(text), start=1):
        if number in derived:
            inside = False
        elif line.lstrip().startswith("```"):
            fenced = not fenced
        elif fenced:
            continue
        elif heading := _HEADING.match(line):
            inside = bool(_TITLE.fullmatch(heading["title"]))
        elif match := _BULLET.match(line):
            yield number, match, inside and len(match["indent"].expandtabs(4)) < 4  # noqa: PLR2004 - deeper: a remark


def _decision(rest: str, number: int, file: str, *, titled: bool) -> Decision | None:
    match = _FORM.match(rest[:4_000])
    if match is None or not match["text"].strip():
        return None
    if not titled and not (match["id"] and match["status"]):
        return None
    status, by = _status(match["status"] or "")
    return Decision(
        id=match["id"] or f"L{number}",
        text=match["text"],
        status=status,
        phase=int(match["phase"] or 0),
        goal=int(match["goal"] or 0),
        place=Place(file=file, line=number),
        by=by,
    )


def _status(text: str) -> tuple[DecisionStatus, str]:
    """The status by its first word; one that nobody knows is open: a decision that was overlooked is worse."""
    by = _BY.search(text)
    first = next(iter(text.split()), "").lower().strip(",.")
    return _CLOSED.get(first, DecisionStatus.OPEN), by[1] if by else ""


def settled(decisions: Sequence[Decision]) -> tuple[Decision, ...]:
    """The decisions in their order, closed where a later one replaces them: by id, or by saying so."""
    by_id: dict[str, list[int]] = {}
    for number, each in enumerate(decisions):
        by_id.setdefault(each.id.lower(), []).append(number)
    closed: dict[int, str] = {}
    index, numbers = Index(), list[int]()
    for number, newer in enumerate(decisions):
        text = newer.text.lower()
        if newer.status is not DecisionStatus.REJECTED and any(phrase in text for phrase in CLOSING):
            older = [each for match in _NAMED.finditer(text) for each in by_id.get(match[1].rstrip(".-"), ())]
            later = LaterText(TextKind.DECISION, newer.text, newer.place)
            older += [numbers[each] for each, _ in index.conflicts(later)]
            for before in older:
                if before != number and decisions[before].status is DecisionStatus.OPEN:
                    closed.setdefault(before, newer.id)
        if newer.status is DecisionStatus.OPEN:
            index.add(newer)
            numbers.append(number)
    return tuple(
        each.model_copy(update={"status": DecisionStatus.SUPERSEDED, "by": closed[n]}) if n in closed else each
        for n, each in enumerate(decisions)
    )
