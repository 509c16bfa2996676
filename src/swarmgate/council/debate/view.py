"""Renders a debate round by round, as plain text and as one self-contained HTML page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from swarmgate.council.debate.model import Claim, DebateRecord, Moderation, Novelty, Outcome, Round, Speech
from swarmgate.council.views.formatting import indented, item
from swarmgate.domain.review.votes import Ballot, Reason, Seat, Tally, Vote
from swarmgate.domain.usage import Usage, cost_in_words
from swarmgate.html import rendered
from swarmgate.llm.parsing.json_objects import PLACES, taken_apart

_READ = {"claims", "verdict", "final_verdict"}
"""Keys of the objects that were read from a speech."""

_EMPTY_FENCE = re.compile(r"^[ \t]*(```+|~~~+)[ \t]*\w*[ \t]*\n\s*\1[ \t]*$", re.MULTILINE)
_MARK = re.compile(r"^[-+*_`# \t]*FINAL[_ ]VERDICT[*_` \t]*[:=]?(.*)$", re.MULTILINE | re.IGNORECASE)


# --- words that both have ---


def cost(usage: Usage, seconds: float | None = None) -> str:
    """`1,200 tokens, $0.0024, 3.1 s`; no price of nothing, and no lower bound of 0."""
    money = f", {cost_in_words(usage)}" if usage.calls else ""
    time = f", {seconds:.1f} s" if seconds is not None else ""
    return f"{usage.tokens:,} tokens{money}{time}"


def counted(tally: Tally) -> str:
    """`2 approve, 1 reject, 0 abstain, 0 failed`."""
    return f"{tally.approve} approve, {tally.reject} reject, {tally.abstain} abstain, {tally.failed} failed"


def _decided(outcome: Outcome) -> str:
    by = "the architect's synthesis" if outcome.decided_by == "synthesis" else "the majority; a tie rejects"
    return f"decided by {by}; {counted(outcome.tally)}"


def _took(outcome: Outcome) -> str:
    rounds = f"{outcome.rounds} round{'s' if outcome.rounds > 1 else ''}"
    early = ", converged early" if outcome.converged else ""
    return f"{rounds}{early}; {cost(outcome.usage, outcome.seconds)}"


def _bounds(record: DebateRecord) -> str:
    debate = record.debate
    chair = f", moderator {debate.moderator.id}" if debate.moderator else ""
    parent = "" if debate.parent else ", no synthesis"
    rounds = f"at most {debate.rounds} round{'s' if debate.rounds > 1 else ''}"
    return f"{rounds}, order {debate.order}, {debate.tokens:,} tokens a voice and round{chair}{parent}"


def _head(held: Round) -> str:
    kind = ", the vote" if held.final else ", nothing new" if held.converged else ""
    return f"Round {held.number}{kind} ({held.seconds:.1f} s)"


def _notes(held: Round) -> Iterator[str]:
    if held.moderation:
        yield from _moderated(held.moderation)
    if held.condensed:
        yield f"seen as a gist, as not all fitted: {', '.join(held.condensed)}"
    if held.number > 1:
        yield f"the rounds before are read in the order {', '.join(held.order)}"


def _moderated(moderation: Moderation) -> Iterator[str]:
    if moderation.failed:
        yield f"the moderator failed: {moderation.failed}"
    if moderation.order:
        yield f"the moderator sets the order {', '.join(moderation.order)}"
    yield from (f"the moderator asks {seat}: {question}" for seat, question in moderation.questions.items())
    yield from (f"the moderator cuts {seat}, who repeats itself" for seat in moderation.cut)


def _who(speech: Speech) -> str:
    model = f" ({speech.model})" if speech.model else ""
    return f"{speech.id} {speech.seat}{model}"


def _about(speech: Speech) -> str:
    cut = f", {speech.cut:,} characters left out" if speech.cut else ""
    prompt = f", prompt {speech.prompt_hash[:12]}" if speech.prompt_hash else ""
    return f"{cost(speech.usage, speech.seconds)}{prompt}{cut}"


def _age(novelty: Novelty | None) -> str:
    if novelty is None:
        return ""
    if novelty.new:
        return "new" + (f", {novelty.similarity:.0f}% like {novelty.nearest}" if novelty.nearest else "")
    return f"old, {novelty.similarity:.0f}% like {novelty.nearest}"


def _reason(reason: Reason) -> str:
    cites = f" [{', '.join(reason.cites)}]" if reason.cites else ""
    lost = f" (names what was not there: {', '.join(reason.unresolved)})" if reason.unresolved else ""
    return f"{reason.text}{cites}{lost}"


def reasons(record: DebateRecord) -> tuple[str, ...]:
    """Why it was decided: by the synthesis, or of the participants of the side that won, and by the count."""
    outcome = record.outcome
    if outcome is None:
        return ()
    if outcome.synthesis:
        return tuple(_reason(each) for each in outcome.synthesis.reasons)
    return (
        *_of_side(record, {outcome.verdict}),
        *(_uncounted(record, outcome) if outcome.verdict is Vote.REJECT else ()),
    )


def _uncounted(record: DebateRecord, outcome: Outcome) -> Iterator[str]:
    """What rejects besides votes: participants that failed, and a count that does not carry an approval."""
    speeches = record.rounds[-1].speeches if record.rounds else ()
    yield from (f"{each.seat} failed: {each.failed or 'no vote'}" for each in speeches if not each.ballot)
    count = outcome.tally
    if count.reject <= count.approve:
        yield f"approve does not outnumber reject and failed: {counted(count)}"


def dissent(record: DebateRecord) -> tuple[str, ...]:
    """What the side that lost still holds."""
    outcome = record.outcome
    if outcome is None:
        return ()
    if outcome.synthesis and outcome.synthesis.dissent:
        return tuple(_reason(each) for each in outcome.synthesis.dissent)
    return tuple(_of_side(record, {Vote.APPROVE, Vote.REJECT} - {outcome.verdict}))


def _of_side(record: DebateRecord, side: set[Vote]) -> Iterator[str]:
    for speech in record.rounds[-1].speeches if record.rounds else ():
        if speech.ballot and speech.ballot.vote in side:
            yield from (f"{speech.seat}: {_reason(each)}" for each in speech.ballot.reasons)


def prose(speech: Speech) -> str:
    """The prose of a speech, without the claims and the vote that were parsed from it."""
    mixed = taken_apart(speech.text)

    def shown(place: re.Match[str]) -> str:
        found = mixed.objects[int(place[1])]
        keys = {str(key).strip().lower().replace(" ", "_") for key in found}
        return "" if keys & _READ else json.dumps(found, ensure_ascii=False)

    text = _EMPTY_FENCE.sub("", PLACES.sub(shown, mixed.text))
    mark = _MARK.search(text) if speech.ballot else None
    if mark:
        text = text[: mark.start()] + ("" if mark[1].strip(" *_`") else text[mark.end() :])
    return re.sub(r"\n{3,}", "\n\n", text).strip()


def _claims(speech: Speech) -> list[Claim]:
    """The claims of a speech, less those that are the reasons of its vote: these stand beside the vote."""
    reasons_given = {" ".join(each.text.split()) for each in speech.ballot.reasons} if speech.ballot else set()
    return [each for each in speech.claims if each.text not in reasons_given]


def last_words(record: DebateRecord) -> dict[str, list[str]]:
    """The last speech and the vote of each seat."""
    speeches = record.rounds[-1].speeches if record.rounds else ()
    return {each.seat: [*prose(each).splitlines(), *_ballot(each, 0)] for each in speeches if not each.failed}


# --- text ---


def verdict_lines(record: DebateRecord) -> list[str]:
    """How it ended: the verdict with its reasons, the dissent, the tally and the cost."""
    outcome = record.outcome
    if outcome is None:
        return [f"No verdict: {record.failed}" if record.failed else "No verdict yet: the debate is not over."]
    lines = [f"{outcome.verdict}  ({_decided(outcome)})"]
    if outcome.synthesis:
        lines += indented(outcome.synthesis.summary, 2)
    for title, points in (("Reasons", reasons(record)), ("Dissent", dissent(record))):
        if points:
            lines += [f"{title}:", *(line for each in points for line in item(each, 2))]
    return [*lines, _took(outcome)]


def text_lines(record: DebateRecord) -> list[str]:
    """The whole debate."""
    debate = record.debate
    lines = [f"Debate {debate.id}" + (f" about {debate.about}" if debate.about else "")]
    lines += indented(debate.question, 2)
    lines += [f"  {_bounds(record)}", *(line for seat in debate.seats for line in item(_seat(seat), 2))]
    if debate.material:
        lines += ["", "Material:", *indented(debate.material, 2)]
    for held in record.rounds:
        lines += ["", _head(held), *(f"  {note}" for note in _notes(held))]
        novelty = {each.claim: each for each in held.novelty}
        lines += [line for speech in held.speeches for line in _speech(speech, novelty)]
    return [*lines, "", *verdict_lines(record)]


def _speech(speech: Speech, novelty: dict[str, Novelty]) -> list[str]:
    lines = ["", f"  {_who(speech)}  {_about(speech)}"]
    if speech.failed:
        return [*lines, f"    failed: {speech.failed}"]
    lines += indented(prose(speech), 4)
    for claim in _claims(speech):
        age = _age(novelty.get(claim.id))
        lines += item(f"{claim.id} [{claim.stance}{', ' if age else ''}{age}] {claim.text}", 4)
        lines += indented(f"evidence: {claim.evidence}", 6) if claim.evidence else []
    return [*lines, *_ballot(speech, 4)]


def _ballot(speech: Speech, by: int) -> list[str]:
    if not speech.ballot:
        return []
    lines = [line for each in speech.ballot.reasons for line in item(_reason(each), by)]
    return [f"{' ' * by}FINAL_VERDICT: {_vote(speech.ballot)}", *lines]


def _vote(ballot: Ballot) -> str:
    return f"{ballot.vote}, {ballot.confidence:.0%} sure"


# --- HTML ---


def html(record: DebateRecord) -> str:
    """One self-contained page: nothing is loaded, and whatever was said in the debate is text."""
    return rendered(
        __file__,
        "debate.html",
        debate=record.debate,
        rounds=record.rounds,
        outcome=record.outcome,
        bounds=_bounds(record),
        seats=[_seat(seat) for seat in record.debate.seats],
        undecided=verdict_lines(record)[0],
        decided=_decided,
        took=_took,
        reasons=reasons(record),
        dissent=dissent(record),
        head=_head,
        notes=_notes,
        who=_who,
        about=_about,
        prose=prose,
        claims=_new_and_repeated_claims,
        vote=_vote,
        given=lambda ballot: [_reason(each) for each in ballot.reasons],
    )


def _seat(seat: Seat) -> str:
    return f"{seat.id}{f' ({seat.model})' if seat.model else ''}{f': {seat.brief}' if seat.brief else ''}"


def _new_and_repeated_claims(speech: Speech, held: Round) -> list[tuple[str, bool]]:
    """Each claim of a speech as it is shown, and whether it only repeats another."""
    novelty = {each.claim: each for each in held.novelty}
    found = []
    for claim in _claims(speech):
        age = novelty.get(claim.id)
        text = f"{claim.id} [{claim.stance}{', ' if age else ''}{_age(age)}] {claim.text}"
        evidence = f" - evidence: {claim.evidence}" if claim.evidence else ""
        found.append((f"{text}{evidence}", age is not None and not age.new))
    return found
