"""What a discussion leaves on record: kills, secrets, progress.md, and golden files of a whole one."""

from __future__ import annotations

import json
import os
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
from tests.council.discussion.conftest import Room, User, assessed, concluded, experts, linked, rule

from swarmgate.council.discussion.chronicle import record_of
from swarmgate.council.discussion.people import Pause
from swarmgate.council.masking import masked
from swarmgate.council.records import NAMES, Manifest, Records
from swarmgate.domain.discussion import Cast, Choice, ChoiceKind, DiscussionRecord, Expert, Step
from swarmgate.domain.redaction import redact
from swarmgate.errors import CouncilRefused
from swarmgate.journal.documents import FileDocuments
from swarmgate.ledger.folder import SwarmFolder

Make = Callable[..., Room]
GOLDEN = Path(__file__).parent / "golden" / "record"
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
        clean = partial(masked, redact=partial(redact, secrets=[SECRET]), names=NAMES)
        return Records(FileDocuments(SwarmFolder(self.repo).path), clean=clean)


@pytest.mark.slow
async def test_no_secret_is_kept_told_or_returned_cut_escaped_or_as_a_name(room: Make) -> None:
    text = f"{'w ' * 92}{SECRET} {SHAPED} and {'z ' * 40}"
    named = json.loads(experts("economist", "ecologist"))
    named["experts"][0] |= {"name": f"N {SHAPED}", "expertise": text}
    named["experts"][1] |= {"id": SHAPED, "name": SECRET}
    named["tensions"][0]["between"] = ["economist", SHAPED]
    there = room(
        rule("experts", json.dumps(named)),
        rule("position", json.dumps({"position": text, "confidence": 0.5, "conditions": [text]})),
        rule("argue", linked(("r1-msg-002", "extends"), prose=text), number=1),
        rule("assess", assessed(focus=text, agreements=[text])),
        rule("conclude", concluded(executiveSummary=text)),
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
    for expected in ("a rule: the contrarian goes again", "## Synthesis", "It depends.", "a word of mine"):
        assert expected in text


@pytest.mark.slow
async def test_a_changed_proposal_answers_no_other_request(room: Make) -> None:
    hashes = []
    for name in ("", "Somebody else"):
        there = room()
        asked = there.discussion().model_dump(mode="json")
        there.records.begin(Manifest(id="d1", pattern="discussion", request=asked, request_hash="h", status="prepared"))
        await there.hold(Waits())
        proposed = there.folder / "personas/proposed.json"
        cast = json.loads(proposed.read_text())
        cast["experts"][0]["name"] = name or cast["experts"][0]["name"]
        proposed.write_text(json.dumps(cast))
        await there.hold()
        hashes.append(there.records.manifest("d1").request_hash)
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
    narrow.windows = {"economist": 9_500}
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
    there = room(rule("conclude", concluded(executiveSummary="As r9-msg-999 proves.", openQuestions=["r1-msg-001?"])))
    conclusion = (await there.hold()).conclusion
    assert conclusion
    assert conclusion.noted == ("it cites messages that do not exist: r9-msg-999",)


# --- golden ---


async def test_the_record_is_the_golden_one(room: Make) -> None:
    there = room()
    await there.hold(mode="lightweight", rounds=1)
    names = ("progress.md", "manifest.json", "personas/economist.json", "rounds/001.json", "artifacts/synthesis.json")
    for name in names:
        text = (there.folder / name).read_text()
        text = re.sub(r'("[a-zA-Z_]*(?:hash|Hash|seal|before|digest|proposed)": )"[0-9a-f]{40,}"', r'\1"HASH"', text)
        text = re.sub(r'"[0-9a-f]{64}"', '"HASH"', text)
        text = re.sub(r'("(?:seconds)": )[0-9.e-]+', r"\g<1>0", text)
        text = re.sub(r'"20\d\d-[^"]*"', '"TIME"', text)
        text = re.sub(r'("[a-z_]*tokens": )[0-9]+', r"\g<1>0", text)
        path = GOLDEN / name.replace("/", "-")
        if os.environ.get("SWARMGATE_GOLDEN"):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        assert text == path.read_text(), name


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
        time.sleep(chance.uniform(0, length))  # noqa: ASYNC251 - as above
        process.send_signal(signal.SIGKILL)
        process.wait()
        record_of(there.records, "d1")
        assert plain(await there.hold(mode="deep", rounds=2)) == expected
