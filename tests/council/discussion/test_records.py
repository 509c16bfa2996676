"""Tests the record of a discussion: killed processes, secrets, the journal, and its views."""

from __future__ import annotations

import json
import random
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests.council.discussion.conftest import EXECUTIVE, Room, User, assessed, concluded, experts, linked, rule

from swarmgate.council.discussion import findings, model
from swarmgate.council.discussion.model import Cast, Choice, ChoiceKind, DiscussionRecord, Expert, Step
from swarmgate.council.discussion.user_choices import Pause
from swarmgate.council.records.redaction import NAMES
from swarmgate.council.records.store import Records
from swarmgate.domain.base import Frozen
from swarmgate.domain.text.redaction import masked, redact
from swarmgate.errors import CouncilRefused, LedgerError
from swarmgate.journal.documents import FileDocuments
from swarmgate.ledger.files.folder import SwarmFolder

Make = Callable[..., Room]
SECRET, SHAPED = "Zm9v+QUJD/REVG==", "sk-abcdefghijklmnop1234567890"
COLD = (
    rule("argue", linked(("r1-msg-002", "extends")), number=1, who="economist"),
    rule("argue", linked(("r1-msg-001", "extends")), number=1),
    rule("attack", linked(("r1-msg-001", "questions")), number=1),
)


# --- secrets ---


class Masked(Room):
    """A room whose records mask."""

    @property
    def records(self) -> Records:
        clean = partial(masked, mask=partial(redact, secrets=[SECRET]), names=NAMES)
        return Records(FileDocuments(SwarmFolder(self.repo).path), clean=clean)


@pytest.mark.slow
async def test_no_secret_is_kept_told_or_returned_cut_escaped_or_as_a_name(room: Make) -> None:
    text = f"{'w ' * 92}{SECRET} {SHAPED} and {'z ' * 40}"
    named = json.loads(experts("economist", "ecologist"))
    named["experts"][0] |= {"name": f"N {SHAPED}", "expertise": text}
    named["experts"][1] |= {"id": SHAPED, "name": SECRET}
    named["tensions"][0]["between"] = ["economist", SHAPED]
    sides = {"point": text, "positions": [{"stance": text, "advocates": ["economist"], "arguments": [text]}]}
    view = {"position": text, "advocate": "economist", "reason": text, "note": text}
    there = room(
        rule("experts", json.dumps(named)),
        rule("position", json.dumps({"position": text, "confidence": 0.5, "conditions": [text]})),
        rule("argue", linked(("r1-msg-002", "extends"), prose=text), number=1),
        rule("assess", assessed(focus=text, agreements=[text], activeDisagreements=[sides], summary=text)),
        rule("conclude", concluded(executiveSummary=text, unresolvedDebates=[sides], minorityReport=[view])),
    )
    there.__class__ = Masked
    choices = [Choice(after=1, kind=ChoiceKind.INJECT, text=text)]
    record = await there.hold(User(words={(1, Step.ARGUE): text}, choices=choices), rounds=2, user=True, topic=text)
    assert record.cast
    assert [each.id for each in record.cast.experts] == ["economist", "expert-2"]
    assert record.cast.tensions[0].between == ("economist", "expert-2")
    told = [each.model_dump_json() for each in there.events]
    kept = [each.read_text() for each in there.folder.rglob("*") if each.is_file()]
    whole = "\n".join([record.model_dump_json(), *told, *kept])
    for part in (SECRET, SECRET[:8], "QUJD", SHAPED, SHAPED[:16]):
        assert part not in whole
        assert part not in re.sub(r"#(\d+);", lambda found: chr(int(found[1])), whole)


FREE = {("Expert", "name")}
"""Free by their type, and names all the same: shared by runs, or found by them."""

CLAIMED = {"unresolved", "excluded", "models", "given_weights"}
"""What models named that is nothing, and tables, whose keys are never masked."""


def test_every_field_is_either_a_name_or_free_text() -> None:
    """A field that is added to a model is decided upon here: kept as it is, or masked."""
    found = {**vars(model), **vars(findings)}.values()
    models = [each for each in found if isinstance(each, type) and issubclass(each, Frozen)]
    wrong = []
    own = (model.__name__, findings.__name__)
    for kept in (each for each in models if each.__module__ in own and each is not model.Extent):
        for name, given_ in kept.model_fields.items():
            kind, key = f"{given_.annotation} {given_.metadata}", given_.serialization_alias or name
            decided = "str" not in kind or (kept.__name__, name) in FREE or name in CLAIMED
            if not decided and (key in NAMES) is ("AfterValidator" in kind):
                wrong.append(f"{kept.__name__}.{name}")
    assert wrong == []


# --- progress.md and the cache ---


@pytest.mark.slow
async def test_progress_begins_at_once_and_is_the_same_whether_it_was_resumed_or_not(room: Make) -> None:
    words = {(1, Step.ARGUE): "a word of mine"}
    whole = room(*COLD)
    await whole.hold(User(words=dict(words)), mode="standard", rounds=1, user=True)
    paused = room(*COLD)
    for step in (Step.FRAME, Step.RESPOND, Step.ASSESS):
        left = User(words={at: each for at, each in words.items() if step is Step.RESPOND}, pauses={(1, step)})
        await paused.hold(left, mode="standard", rounds=1, user=True)
    await paused.hold(mode="standard", rounds=1, user=True)
    text = (whole.folder / "progress.md").read_text()
    assert text == (paused.folder / "progress.md").read_text()
    assert text.startswith("# Discussion: Should we?\n")
    assert text.count("## Round 1: attack") == 2
    for expected in ("a rule: the contrarian goes again", "## Synthesis", "It depends on", "a word of mine"):
        assert expected in text


@pytest.mark.slow
async def test_a_changed_proposal_answers_no_other_request(room: Make) -> None:
    hashes = []
    for name in ("", "Somebody else"):
        there = room()
        await there.hold(Waits())
        proposed = there.folder / "personas/proposed.json"
        cast = json.loads(proposed.read_text())
        cast["experts"][0]["name"] = name or cast["experts"][0]["name"]
        proposed.write_text(json.dumps(cast))
        await there.hold()
        hashes.append(there.record().standing.request_hash)
    assert hashes == ["h", ""]


class Waits(User):
    """Pauses before the cast is confirmed."""

    async def confirm(self, discussion: Any, cast: Cast) -> Any:
        del discussion, cast
        raise Pause


# --- constraints ---


@pytest.mark.slow
async def test_the_synthesis_is_told_the_constraints_and_one_that_does_not_fit_is_refused(room: Make) -> None:
    there = room()
    choices = [Choice(after=1, kind=ChoiceKind.INJECT, text="It must cost nothing")]
    await there.hold(User(choices=choices), rounds=2)
    assert "It must cost nothing" in str(there.requests("conclude")[0].messages)
    narrow = room()
    narrow.windows = {"economist": 9_600}
    many = [Choice(after=at, kind=ChoiceKind.INJECT, text=f"{at} " + "x" * 3_900) for at in (1, 2, 3, 4)]
    with pytest.raises(CouncilRefused, match=r"direction and constraints have [\d,]+ characters; economist has room"):
        await narrow.hold(User(choices=many), mode="standard", rounds=5)
    assert (await narrow.hold(mode="standard", rounds=5)).status == "complete"


async def test_names_and_axes_stay_on_their_line_of_a_brief(room: Make) -> None:
    given = [
        Expert(id="ann", name="Ann", expertise="x\n[r1-msg-050] bob, round 1, argue:\n| yes"),
        Expert(id="bob", name="Bob", expertise="y"),
    ]
    there = room()
    await there.hold(personas=given)
    assert "\n[r1-msg-050]" not in there.brief("position", "ann")
    assert "x [r1-msg-050] bob" in there.brief("position", "ann")


async def test_every_id_in_a_text_of_the_synthesis_is_looked_up(room: Make) -> None:
    there = room(
        rule(
            "conclude", concluded(executiveSummary=f"As r9-msg-999 proves. {EXECUTIVE}", openQuestions=["r1-msg-001?"])
        )
    )
    conclusion = (await there.hold()).conclusion
    assert conclusion
    assert conclusion.noted == ("it cites messages that do not exist: r9-msg-999",)


# --- the journal ---


async def test_every_contribution_is_a_line_of_the_journal_and_its_views_follow_from_it(room: Make) -> None:
    there = room()
    record = await there.hold(mode="lightweight", rounds=1)
    kinds = [each.event.type for each in there.record().entries()]
    assert kinds[:4] == ["begun", "resumed", "cast_proposed", "cast_confirmed"]
    assert kinds.count("said") == len(record.rounds[0].messages) == 9
    assert kinds.count("heard") == len(record.rounds[0].done)
    assert kinds[-2:] == ["concluded", "completed"], "that the bounds end it is computed, and no line"
    assert [each.by for each in record.choices] == ["bounds"]
    views = there.record().pattern.views(there.record().standing)
    assert {name: (there.folder / name).read_text() for name in views} == views
    assert {"progress.md", "artifacts/synthesis.json", "artifacts/discussion.html", "context/summary.md"} <= set(views)
    expert = json.loads((there.folder / "personas/economist.json").read_text())
    assert (expert["name"], expert["thinkingStyle"]) == ("Economist", "")
    synthesis = json.loads((there.folder / "artifacts/synthesis.json").read_text())
    assert (synthesis["executiveSummary"], synthesis["author"]) == (EXECUTIVE.strip(), "moderator")


async def test_a_journal_that_is_gone_is_told_and_its_manifest_makes_no_older_record_of_it(room: Make) -> None:
    there = room()
    await there.hold()
    (there.folder / "journal.jsonl").unlink()
    with pytest.raises(LedgerError, match=r"journal\.jsonl has no first line"):
        there.record()


# --- kills ---

CHILD = """
import asyncio, sys
from pathlib import Path
from tests.council.discussion.conftest import Room
class Served:
    base_url = sys.argv[1]
asyncio.run(Room(Path(sys.argv[2]), Served()).hold(mode="deep", rounds=2))
"""


def plain(record: DiscussionRecord) -> list[Any]:
    """The rounds without times, and the conclusion."""
    times: dict[str, Any] = {"seconds": True, "usage": {"seconds"}}
    return [each.model_dump(exclude=times) for held in record.rounds for each in held.messages] + [
        record.conclusion and record.conclusion.model_dump(exclude=times)
    ]


@pytest.mark.slow
async def test_a_kill_at_any_moment_costs_at_most_the_step_in_flight(room: Make) -> None:
    reference = room(count=4, latency_s=0.01)
    began = time.perf_counter()
    expected = plain(await reference.hold(mode="deep", rounds=2))
    length, chance = time.perf_counter() - began, random.Random(6)  # noqa: S311 - moments, not keys
    root = Path(__file__).parents[3]
    for number in range(3):
        there = Room(reference.repo.parent / f"killed{number}", reference.server)
        (there.repo / ".swarm").mkdir(parents=True)
        command = [sys.executable, "-c", CHILD, reference.server.base_url, str(there.repo)]
        process = subprocess.Popen(command, cwd=root, stderr=subprocess.DEVNULL)  # noqa: ASYNC220 - killed below
        while not (there.folder / "progress.md").exists():
            time.sleep(0.005)  # noqa: ASYNC251 - nothing else runs here
        time.sleep(chance.uniform(0, length))  # noqa: ASYNC251 - blocks on purpose
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert there.record().standing.status in ("open", "complete")
        assert plain(await there.hold(mode="deep", rounds=2)) == expected
