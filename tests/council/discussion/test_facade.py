"""Tests the facade of discussions: personas files, cached answers, and progress."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.council.discussion_script import CAST, PERSONAS, discussing, without_models
from tests.project import Project

from swarmgate.council.discussion import personas as personas_file
from swarmgate.council.discussion.model import Cast, Choice, Discussion, DiscussionRecord, Expert, Mode, Step, Tension
from swarmgate.council.discussion.rules import RULES
from swarmgate.council.discussion.user_choices import FOLLOWING, Confirmed, Pause
from swarmgate.council.shared import Shared
from swarmgate.council.views.progress import progress_line, teller
from swarmgate.council.views.stream import (
    Completed,
    Contributed,
    Converged,
    Erred,
    PatternEvent,
    RoundCompleted,
    RoundStarted,
    Started,
    StepStarted,
)
from swarmgate.domain.progress import Progress
from swarmgate.domain.usage import Usage
from swarmgate.engine import Swarm
from swarmgate.errors import CouncilRefused

# --- files of personas ---


def test_both_spellings_and_both_formats_are_read(tmp_path: Path) -> None:
    path = tmp_path / "personas.toml"
    path.write_text(f"\ufeff{PERSONAS}", "utf-8")
    cast = personas_file.read(path)
    assert [(each.thinking_style, each.blind_spots) for each in cast.experts] == [
        ("worst case first", ""),
        ("", "auditors"),
    ]
    assert cast.tensions[0].axis == "safety against speed"
    path.write_text(cast.model_dump_json(include={"experts", "tensions"}), "utf-8")
    assert personas_file.read(path) == cast


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('id = "operations"', 'id = "Security"', "line 9: `experts.2.id`: there is another expert 'Security'"),
        ('id = "operations"', 'id = "historian"', "line 9: `experts.2.id`: 'historian' is the name of a fixed role"),
        ('id = "operations"', 'id = "o p"', "line 9: `experts.2.id`: letters, digits"),
        ('name = "Operations"', 'nmae = "x"', "line 10: `experts.2.nmae`: unknown key `nmae`; did you mean `name`?"),
        ('expertise = "pagers"\n', "", "line 8: `experts.2`: the key `expertise` is missing"),
        ('expertise = "pagers"', "expertise = 3", "line 11: `experts.2.expertise`: must be a text, or a list of texts"),
        ('expertise = "pagers"', f'expertise = "{"x" * 8001}"', "has 8,001 characters: the limit is 8,000"),
        ('"operations"]', '"auditor"]', "line 15: `tensions.1.between`: there is no expert 'auditor'"),
        ('"operations"]', '"security"]', "line 15: `tensions.1.between`: a tension is between two experts"),
        ("axis =", "axes =", "line 16: `tensions.1.axes`: unknown key `axes`; did you mean `axis`?"),
        ("[[tensions]]", "[[tension]]", "unknown key `tension`; did you mean `tensions`?"),
        ("[[experts]]", "[[", "is not valid TOML"),
        (PERSONAS, "{", "is not valid JSON"),
        (PERSONAS, "", "the key `experts` is missing"),
        (PERSONAS, '{"experts": []}', "`experts`: there is no expert: the limit is 1 to 10"),
    ],
    ids=lambda value: value[-30:],
)
def test_a_mistake_in_a_file_is_named_with_line_and_key(tmp_path: Path, old: str, new: str, told: str) -> None:
    path = tmp_path / "personas.toml"
    assert old in PERSONAS
    path.write_text(PERSONAS.replace(old, new), "utf-8")
    with pytest.raises(CouncilRefused) as refused:
        personas_file.read(path)
    assert refused.value.message.startswith(str(path))
    assert told in refused.value.message


def test_what_is_no_file_of_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xff")
    (tmp_path / "y").write_bytes(b"#" * 1_000_001)
    for name, told in (("x", "not UTF-8"), ("y", "more than 1,000,000 bytes"), (".", "not a regular file")):
        with pytest.raises(CouncilRefused, match=told):
            personas_file.read(tmp_path / name)


TEXTS = st.text(max_size=40)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(TEXTS, TEXTS, TEXTS)
def test_what_an_editor_gets_is_read_back_as_it_was(name: str, style: str, axis: str) -> None:
    experts = tuple(Expert(id=f"e{at}", name=f"n{name}", expertise="x", thinking_style=style) for at in range(2))
    cast = Cast(experts=experts, tensions=(Tension(between=("e0", "e1"), axis=axis, description=style),))
    assert personas_file.parsed(personas_file.written(cast), "it") == cast


# --- what is answered again ---


@pytest.mark.slow
async def test_another_state_of_the_project_is_another_request(project: Project) -> None:
    project.play(*discussing())
    council = Swarm(project.root).council
    options: dict[str, Any] = {"mode": "lightweight", "personas": CAST["experts"]}
    live: list[PatternEvent] = []
    first = await council.discuss("How?", **options, on_event=live.append)
    told = [each for each in live if isinstance(each, Contributed)]
    assert sum((each.usage for each in told), Usage()).tokens == first.usage.tokens, "the cast and synthesis, too"
    events: list[PatternEvent] = []
    same = await council.discuss("How?", **options, on_event=events.append)
    assert (same, [each.event for each in events]) == (first, ["started", "completed"])
    project.write("src/calc/more.py", "X = 1\n")
    other = await council.discuss("How?", **options, on_event=events.append)
    assert other.discussion.id != first.discussion.id
    assert isinstance(events[-1], Completed)
    project.configure(council={"cache": False})
    fresh = Swarm(project.root).council
    again = await fresh.discuss("How?", **options)
    assert len({each.id for each in fresh.discussions()}) == 3
    assert again.discussion.id == fresh.discussions()[0].id


@pytest.mark.slow
async def test_a_record_that_went_on_elsewhere_answers_no_request_and_a_commit_changes_nothing(
    project: Project,
) -> None:
    project.play(*discussing())
    first = await Swarm(project.root).council.discuss("How?", mode="lightweight")
    project.git("add", "-A")
    project.git("add", "-f", ".swarm/discussions")
    project.git("commit", "-qm", "with its record")
    events: list[PatternEvent] = []
    again = await Swarm(project.root).council.discuss("How?", mode="lightweight", on_event=events.append)
    assert again.discussion.id == first.discussion.id
    assert [each.event for each in events] == ["started", "completed"]
    paused = await Swarm(project.root).council.discuss("Why?", mode="lightweight", people=Leaving())
    other = project.root / "other.py"
    other.write_text("y = 2\n")
    await Swarm(project.root).council.resume_discussion(paused.discussion.id)
    other.unlink()
    anew = await Swarm(project.root).council.discuss("Why?", mode="lightweight")
    assert anew.discussion.id != paused.discussion.id


class Leaving:
    """Pauses before the cast is confirmed."""

    async def confirm(self, discussion: Discussion, cast: Cast) -> Confirmed:
        del discussion, cast
        raise Pause

    async def speak(self, record: DiscussionRecord, after: Step) -> str:
        raise NotImplementedError

    async def choose(self, record: DiscussionRecord) -> Choice:
        raise NotImplementedError


async def test_experts_given_in_code_are_checked_by_name(project: Project) -> None:
    project.play(*discussing())
    experts = CAST["experts"]
    with pytest.raises(CouncilRefused, match=r"`personas\[1\]\.id`: there is another expert 'security'"):
        await Swarm(project.root).council.discuss("How?", personas=[experts[0], experts[0]])
    with pytest.raises(CouncilRefused, match="has 1: the limit of a standard discussion is 2 to 3"):
        await Swarm(project.root).council.discuss("How?", personas=experts[:1])
    with pytest.raises(CouncilRefused, match="The material has 400,001 characters: the limit is 400,000"):
        await Swarm(project.root).council.discuss("How?", material="x" * 400_001)
    assert project.requests == []


async def test_what_goes_on_needs_no_model_but_those_of_its_cast(project: Project) -> None:
    project.play(*discussing())
    experts = [{**each, "model": "local/senior"} for each in CAST["experts"]]
    fixed = dict.fromkeys(("moderator", "contrarian"), "local/senior")
    without_models(project)
    ends: list[Step] = []

    class Once:
        """Pauses the first time that it is asked."""

        async def confirm(self, discussion: Discussion, cast: Cast) -> Confirmed | Cast | Mode:
            return await FOLLOWING.confirm(discussion, cast)

        async def speak(self, _: DiscussionRecord, after: Step) -> str:
            ends.append(after)
            raise Pause

        async def choose(self, record: DiscussionRecord) -> Choice:
            return await FOLLOWING.choose(record)

    council = Swarm(str(project.root)).council
    paused = await council.discuss("How?", mode="lightweight", personas=experts, models=fixed, people=Once())
    kept = project.folder.discussions / paused.discussion.id
    assert (paused.status, ends) == ("paused", [Step.POSITION])
    assert "paused by the user, in round 1" in (kept / "artifacts/discussion.html").read_text("utf-8")
    done = await council.resume_discussion(paused.discussion.id)
    assert done.status == "complete"


@pytest.mark.slow
async def test_a_part_of_another_record_is_listed_where_parts_are_asked_for(project: Project) -> None:
    project.play(*discussing())
    council = Swarm(project.root).council
    whole = await council.discuss("How?", mode="lightweight")
    records = Shared(Swarm(project.root).project).records
    part = records.begin(RULES, whole.discussion.model_copy(update={"id": "part"}), part_of=whole.discussion.id)
    assert [each.id for each in council.discussions()] == [whole.discussion.id]
    assert {each.id for each in council.discussions(parts=True)} == {whole.discussion.id, part.id}


# --- progress ---

OF: dict[str, Any] = {"pattern": "discussion", "id": "d1"}


@pytest.mark.parametrize(
    ("event", "kind", "words"),
    [
        (Started(**OF, title="Why?", who=("a", "b")), "event", "discussion d1 begins with a, b: Why?"),
        (Started(**OF, title="Why?", resumed=True), "event", "discussion d1 goes on: Why?"),
        (RoundStarted(**OF, number=1, most=3, title="cost"), "step", "round 1 of at most 3: cost"),
        (RoundStarted(pattern="critique", id="c", number=2, most=3), "step", "iteration 2 of at most 3"),
        (StepStarted(**OF, number=0, step="experts", who=("moderator",)), "step", "experts: moderator"),
        (
            Contributed(**OF, number=1, step="argue", who="a", what="counters r1-msg-002", message="r1-msg-005"),
            "event",
            "round 1, argue: a counters r1-msg-002 (r1-msg-005)",
        ),
        (
            Contributed(
                **OF, number=1, step="respond", who="a", what="unmoved", text=f"No.  {'x' * 100}", message="m1"
            ),
            "event",
            f"round 1, respond: a unmoved (m1): No. {'x' * 96}...",
        ),
        (
            Contributed(**OF, number=1, step="argue", who="a", failed="no answer", message="r1-msg-005"),
            "notice",
            "round 1, argue: a failed (r1-msg-005): no answer",
        ),
        (
            RoundCompleted(**OF, number=1, what="3 counters", score=0.5),
            "event",
            "round 1 is over and on record: 3 counters; disagreement of the whole round 5 of 10",
        ),
        (
            RoundCompleted(pattern="decision", id="d", number=1, what="2 of 3 agree", score=0.666),
            "event",
            "round 1 is over and on record: 2 of 3 agree; score 0.67",
        ),
        (
            RoundCompleted(pattern="critique", id="c", number=1, what="mean 0.50", score=0.5),
            "event",
            "iteration 1 is over and on record: mean 0.50",
        ),
        (Converged(**OF, number=2, why="nothing moves"), "event", "it ends early, round 2: nothing moves"),
        (Completed(**OF, what="concluded"), "event", "the discussion is over: concluded"),
    ],
    ids=lambda value: getattr(value, "event", ""),
)
def test_every_event_has_its_words(event: PatternEvent, kind: str, words: str) -> None:
    assert progress_line(event) == (kind, words)


def test_an_error_that_ends_the_command_is_told_by_the_command_alone() -> None:
    told: list[Progress] = []
    events: list[PatternEvent] = []
    tell: Callable[[PatternEvent], None] = teller(told.append, events.append)
    tell(Erred(**OF, code="BUDGET", why="used up"))
    assert (told, len(events)) == ([], 1)
    tell(Erred(pattern="orchestration", id="o1", code="STEP_FAILED", why="step a failed"))
    assert [each.text for each in told] == ["the orchestration o1 cannot go on: step a failed"]


def test_progress_counts_what_was_used_and_hands_the_events_on() -> None:
    told: list[Progress] = []
    events: list[PatternEvent] = []
    tell: Callable[[PatternEvent], None] = teller(told.append, events.append)
    for who in ("a", "b"):
        used = Usage(calls=1, prompt_tokens=10)
        tell(Contributed(**OF, number=1, step="argue", who=who, usage=used))
    assert [each.usage.tokens for each in told] == [10, 20]
    assert len(events) == 2
