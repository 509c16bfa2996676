"""Synthesis of a debate by the architect: its brief, its answer, and the rules that the answer must satisfy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from swarmgate.agents.briefs.brief import Brief, Section, cut
from swarmgate.agents.context import AgentContext
from swarmgate.agents.roles.participant import submit
from swarmgate.agents.tools.answer_text import Unread
from swarmgate.agents.tools.answers import Answer, Form, called
from swarmgate.council.debate.answers import Reasons, closing_reasons, lines_as_reasons, reasons_of, reasons_of_all
from swarmgate.council.debate.closing_verdict import closing
from swarmgate.council.debate.model import Debate, Round, Speech, Synthesis, tally
from swarmgate.council.debate.state import against_the_votes
from swarmgate.council.debate.transcript import Transcript
from swarmgate.council.participants.call_recorder import with_recorder
from swarmgate.council.participants.context_window import material_sections, window_of
from swarmgate.domain.review.votes import Reason, Vote
from swarmgate.errors import CouncilFailed, ModelError
from swarmgate.llm.parsing.json_objects import answer_lines

_SUMMARY = 4_000
"""Characters of a summary."""

_SUMMARIES = ("summary", "synthesis", "rationale", "text", "reason")
_WORDS = {"APPROVE": Vote.APPROVE, "APPROVED": Vote.APPROVE, "REJECT": Vote.REJECT, "REJECTED": Vote.REJECT}


def _vote(value: object) -> Vote:
    word = str(value).strip(" *_`.!").upper()
    if word not in _WORDS:
        raise Unread(f"{cut(word, 60, '...')!r} is no verdict of a synthesis: it is APPROVE or REJECT.")
    return _WORDS[word]


class Judged(Answer):
    """A synthesis as an answer has it."""

    verdict: Annotated[Vote, BeforeValidator(_vote)] = Field(
        description="APPROVE or REJECT.", json_schema_extra={"enum": ["APPROVE", "REJECT"]}
    )
    summary: str = called(*_SUMMARIES, description="What decided, in two to five sentences that stand alone.")
    reasons: Reasons = Field((), description="Why, with ids of messages.")
    dissent: Reasons = Field((), description="What the losing side still holds.")


def synthesis_brief(debate: Debate, sections: Sequence[Section] = ()) -> Brief:
    """The brief of the architect."""
    material = material_sections(debate.question, debate.material)
    transcript = (*material, *sections)
    return Brief("architect", "synthesize", task=debate.task, attempt=debate.attempt, sections=transcript)


async def synthesised(agent: AgentContext, debate: Debate, rounds: Sequence[Round]) -> Synthesis:
    """The architect's synthesis of whole rounds, the last of which is the vote.

    Raises:
        CouncilFailed: twice it gave none that keeps to the rules, or its model failed.
        BudgetExhausted, Stopped, MissingRequirement: as they come.
    """
    votes = Section("The votes", _votes(rounds[-1].speeches))
    room = window_of(agent, synthesis_brief(debate, [votes])).room
    transcript = Transcript(rounds, [seat.id for seat in debate.seats]).render(room)
    recorded, recorder = with_recorder(agent)
    brief = synthesis_brief(debate, [transcript.section, votes])
    try:
        ending = await submit(recorded, brief, synthesis_form(rounds))
    except ModelError as error:
        raise CouncilFailed(
            f"the synthesis of debate {debate.id} failed: {error.message}",
            hint="the rounds are on record; another model is set in [roles.architect]",
        ) from error
    return ending.value.model_copy(update=recorder.took)


def synthesis_form(rounds: Sequence[Round]) -> Form[Judged, Synthesis]:
    """How the architect concludes; a synthesis that breaks a rule is none.

    Where only its citations do, and the votes bear its verdict, it stands when the architect was asked once more.
    """
    ids = _ids(rounds)
    return Form(
        Judged,
        lambda given: _checked(
            given.verdict,
            given.summary,
            reasons_of_all(given.reasons, ids),
            reasons_of_all(given.dissent, ids),
            rounds,
        ),
        in_text=lambda text: synthesis_of(text, rounds=rounds),
    )


def synthesis_of(text: str, *, rounds: Sequence[Round]) -> Synthesis:
    """The synthesis at the end of an answer: a JSON object, or `FINAL_VERDICT: ...` and `REASONS:` below a summary.

    Raises:
        Unread: there is none, or it breaks a rule; the message says which.
    """
    ids = _ids(rounds)
    found = closing(answer_lines(text), "")
    votes = {_vote(each) for each in found.verdicts} if found else set()
    if found is None or not votes:
        raise Unread("There is no JSON object with `verdict` and `summary` in your answer.")
    if len(votes) > 1:
        raise Unread("Your answer gives two different verdicts. Give one.")
    given: Mapping[str, Any] = next((each for each in reversed(found.objects) if "verdict" in each), {})
    summary = _summary_of(given) or " ".join(found.parts["summary"]) or found.above
    dissent = reasons_of(given.get("dissent"), ids) or lines_as_reasons(found.parts["dissent"], ids)
    return _checked(votes.pop(), summary, closing_reasons(found, ids), dissent, rounds)


def _ids(rounds: Sequence[Round]) -> list[str]:
    return [speech.id for held in rounds for speech in held.speeches if not speech.failed]


def _checked(
    verdict: Vote, summary: str, reasons: Iterable[Reason], dissent: Iterable[Reason], rounds: Sequence[Round]
) -> Synthesis:
    made = Synthesis(
        verdict=verdict, summary=cut(summary, _SUMMARY, "..."), reasons=tuple(reasons), dissent=tuple(dissent)
    )
    if problem := _broken_rule(made, rounds):
        raise Unread(problem)
    if problem := _uncited(made):
        borne = made.verdict is tally(rounds[-1].speeches).verdict
        raise Unread(problem, otherwise=made if borne else None)
    return made


def _summary_of(given: Mapping[str, Any]) -> str:
    """What sums it up, in words: `summary`, or what models call it else."""
    return next((given[key] for key in _SUMMARIES if isinstance(given.get(key), str) and given[key].strip()), "")


def _broken_rule(made: Synthesis, rounds: Sequence[Round]) -> str:
    """The first rule that a synthesis breaks; empty: none."""
    cited = {each for reason in made.reasons for each in reason.cites}
    return against_the_votes(made.verdict, cited, rounds) if made.summary else "The summary is empty."


def _uncited(made: Synthesis) -> str:
    """What is wrong with its citations; empty: nothing."""
    unknown = [each for reason in (*made.reasons, *made.dissent) for each in reason.unresolved]
    if unknown:
        return f"These messages do not exist: {', '.join(dict.fromkeys(unknown))}. Cite ids of the transcript."
    if not any(reason.cites for reason in made.reasons):
        return "No reason cites a message. Cite the ids of the messages that your verdict rests on."
    return ""


def _votes(speeches: Iterable[Speech]) -> str:
    lines = [f"{each.seat}: {each.ballot.vote if each.ballot else 'no vote'} [{each.id}]" for each in speeches]
    count = tally(speeches)
    total = f"{count.approve} approve, {count.reject} reject, {count.abstain} abstain, {count.failed} failed"
    return "\n".join((*lines, total))
