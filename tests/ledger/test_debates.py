"""Debates on disk: what was kept is there again, and what was put there by hand is not taken for it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from typing import Any

import pytest

from swarmgate.council.debate.model import Debate, Novelty, Outcome, Round, Speech, Synthesis
from swarmgate.domain.debate import Ballot, Seat, Tally, Vote
from swarmgate.domain.usage import Allowance
from swarmgate.errors import CouncilRefused, LedgerError, LedgerWriteFailed
from swarmgate.ledger.debates import DebateFiles
from swarmgate.ledger.folder import SwarmFolder

ID = "20261121-224500-3f2a"


def debate(**more: object) -> Debate:
    return Debate.model_validate(
        {"id": ID, "question": "Is it sound?", "seats": (Seat(id="advocate"), Seat(id="challenger")), **more}
    )


def held(number: int, text: str = "so it is", *, final: bool = False) -> Round:
    ballot = Ballot(vote=Vote.REJECT, confidence=0.9) if final else None
    speeches = tuple(
        Speech(id=f"r{number}-msg-00{at}", round=number, seat=seat, text=text, ballot=ballot)
        for at, seat in enumerate(("advocate", "challenger"), start=1)
    )
    novelty = (Novelty(claim=f"r{number}-msg-001-c1", new=True),)
    return Round(number=number, final=final, order=("advocate", "challenger"), speeches=speeches, novelty=novelty)


def outcome(debate_id: str = ID) -> Outcome:
    return Outcome(
        id=debate_id, verdict=Vote.REJECT, decided_by="majority", tally=Tally(reject=2), rounds=2, converged=False
    )


@pytest.fixture
def files(folder: SwarmFolder) -> DebateFiles:
    made = DebateFiles(folder, redact=lambda text: text.replace("hunter2", "[redacted]"))
    made.begin(debate())
    return made


def test_what_was_kept_is_there_again(files: DebateFiles) -> None:
    files.keep_round(ID, held(1))
    files.keep_round(ID, held(2, final=True))
    files.keep_outcome(outcome())
    record = files.load(ID)
    assert (record.debate, record.rounds, record.outcome) == (debate(), (held(1), held(2, final=True)), outcome())
    assert files.rounds(ID) == record.rounds
    assert files.ids() == (ID,)


def test_a_failure_is_told_until_there_is_an_outcome(files: DebateFiles) -> None:
    files.keep_round(ID, held(1))
    files.keep_round(ID, held(2, final=True))
    files.keep_failure(ID, "all voices failed")
    assert files.load(ID).failed == "all voices failed"
    files.keep_outcome(outcome())
    assert (files.load(ID).failed, files.load(ID).outcome) == ("", outcome())


def test_no_secret_is_written(files: DebateFiles, folder: SwarmFolder) -> None:
    files.begin(debate(id="other", question="is hunter2 safe?", material="hunter2"))
    files.keep_round("other", held(1, "it is hunter2"))
    files.keep_failure("other", "hunter2 failed")
    written = [path.read_text() for path in (folder.debates / "other").iterdir()]
    assert len(written) == 3
    assert "hunter2" not in "".join(written)
    assert files.load("other").rounds[0].speeches[0].text == "it is [redacted]"


def test_the_same_debate_is_taken_up_again_and_another_one_is_not(files: DebateFiles) -> None:
    files.begin(debate())
    with pytest.raises(CouncilRefused, match="another debate with the id") as refused:
        files.begin(debate(rounds=3, material="new"))
    assert "`material`, `rounds`" in refused.value.message


def test_a_debate_whose_question_was_redacted_is_taken_up_again(files: DebateFiles) -> None:
    files.begin(debate(id="other", question="is hunter2 safe?"))
    files.begin(debate(id="other", question="is hunter2 safe?"))
    kept = files.debate("other")
    files.begin(kept)
    assert "hunter2" not in kept.question
    assert files.debate("other") == kept


def test_a_round_is_kept_once_and_in_order(files: DebateFiles) -> None:
    with pytest.raises(CouncilRefused, match="not the next one"):
        files.keep_round(ID, held(2))
    files.keep_round(ID, held(1))
    with pytest.raises(CouncilRefused, match="not the next one"):
        files.keep_round(ID, held(1, "something else"))
    assert files.rounds(ID) == (held(1),)


def test_a_debate_that_is_not_there_is_refused_with_the_nearest(files: DebateFiles) -> None:
    with pytest.raises(CouncilRefused, match="There is no debate '20261121-224500-3f2b'") as refused:
        files.load("20261121-224500-3f2b")
    assert refused.value.hint == f"Did you mean {ID}?"


@pytest.mark.parametrize(
    "name", ["../x", "a/b", "..", ".", "", "a..b", "/etc", "a\\b", "a" * 81, "-x", "é", "a\n", "x\0"]
)
def test_a_name_that_is_no_id_reaches_no_file(files: DebateFiles, name: str) -> None:
    for act in (files.load, files.rounds, files.allowance, lambda given: files.keep_round(given, held(1))):
        with pytest.raises(CouncilRefused, match="no id of a debate"):
            act(name)
    with pytest.raises(CouncilRefused, match="no id of a debate"):
        files.begin(debate(id=name))


@pytest.mark.parametrize("name", ["debate.json", "round-1.json", "outcome.json", "failure.json"])
@pytest.mark.parametrize("damage", ["", '{"number": 1', "[]", '{"number": "x"}', "\x00\xff", '{"extra": 1}'])
def test_a_damaged_file_is_named(files: DebateFiles, folder: SwarmFolder, name: str, damage: str) -> None:
    files.keep_round(ID, held(1))
    if name == "outcome.json":
        files.keep_round(ID, held(2, final=True))
        files.keep_outcome(outcome())
    (folder.debates / ID / name).write_text(damage)
    with pytest.raises(LedgerError, match=f"{ID}/{name} is damaged"):
        files.load(ID)


def test_files_that_were_exchanged_are_noticed(files: DebateFiles, folder: SwarmFolder) -> None:
    place = folder.debates / ID
    files.keep_round(ID, held(1))
    (place / "round-1.json").write_text(held(2).model_dump_json())
    with pytest.raises(LedgerError, match="that of round 2"):
        files.load(ID)
    (place / "round-1.json").rename(place / "round-2.json")
    with pytest.raises(LedgerError, match=r"round-1\.json is missing, and round 2 is there"):
        files.load(ID)
    (place / "round-2.json").unlink()
    (place / "outcome.json").write_text(outcome("other").model_dump_json())
    with pytest.raises(LedgerError, match="that of the debate other"):
        files.load(ID)
    (place / "debate.json").write_text(debate(id="other").model_dump_json())
    with pytest.raises(LedgerError, match="that of the debate other"):
        files.debate(ID)


def test_what_it_may_use_is_kept(files: DebateFiles) -> None:
    assert files.allowance(ID) == Allowance()
    files.keep_allowance(ID, Allowance(usd=1.5, tokens=2))
    assert files.allowance(ID) == Allowance(usd=1.5, tokens=2)


def test_a_disk_that_refuses_is_told(folder: SwarmFolder) -> None:
    folder.traces.mkdir()
    folder.debates.write_text("a file stands where the folder belongs")
    with pytest.raises(LedgerWriteFailed, match=r"debate\.json could not be written"):
        DebateFiles(folder).begin(debate())


def test_leftovers_of_a_killed_writer_are_not_rounds(files: DebateFiles, folder: SwarmFolder) -> None:
    (folder.debates / ID / ".swarmgate-abc.tmp").write_text("{")
    (folder.debates / ID / "round-x.json").write_text("{")
    assert files.rounds(ID) == ()
    assert json.loads((folder.debates / ID / "debate.json").read_text())["id"] == ID


# --- what was put there by hand ---


def changed(path: Any, change: Callable[[dict[str, Any]], object]) -> None:
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def whole(files: DebateFiles) -> None:
    files.keep_round(ID, held(1))
    files.keep_round(ID, held(2, final=True))
    files.keep_outcome(outcome())


def turned(data: dict[str, Any]) -> None:
    for speech in data["speeches"]:
        speech["ballot"]["vote"] = "APPROVE"


@pytest.mark.parametrize(
    ("name", "change", "why"),
    [
        ("debate.json", lambda data: data.update(question="Another?"), r"round-1\.json .* does not follow"),
        ("round-1.json", lambda data: data["speeches"][0].update(text="x"), r"round-2\.json .* does not follow"),
        ("round-1.json", lambda data: data.update(before="0" * 64), r"round-1\.json .* does not follow"),
        ("round-1.json", lambda data: data.pop("before"), r"round-1\.json .* does not follow"),
        ("round-1.json", lambda data: data.update(final=True), r"round-1\.json .*`final` is true"),
        ("round-2.json", lambda data: data.update(final=False), r"round-2\.json .*`final` is false"),
        ("round-1.json", lambda data: data["speeches"][0].update(seat="ghost"), r"round-1\.json .*ghost has no seat"),
        ("round-1.json", lambda data: data.update(order=["ghost"]), r"round-1\.json .*ghost has no seat"),
        ("round-1.json", lambda data: data["speeches"].pop(), r"round-1\.json .*advocate spoke, and the seats are"),
        ("round-1.json", lambda data: data["speeches"].reverse(), r"round-1\.json .*challenger, advocate spoke"),
        ("round-1.json", lambda data: data["speeches"][1].update(id="r1-msg-001"), r"round-1\.json .*r1-msg-002, not"),
        ("round-1.json", lambda data: data["speeches"][1].update(round=2), r"round-1\.json .*r1-msg-002, not"),
        ("round-2.json", lambda data: data["speeches"][1].update(failed="x"), r"round-2\.json .*failed, and has a"),
        ("round-2.json", turned, r"outcome\.json .*tally is not that of the ballots"),
        ("outcome.json", lambda data: data.update(rounds=1), r"outcome\.json .*counts 1 rounds"),
        ("outcome.json", lambda data: data.update(tally={"approve": 2}), r"outcome\.json .*tally is not"),
        ("outcome.json", lambda data: data.update(verdict="APPROVE"), r"outcome\.json .*the votes come to REJECT"),
        ("outcome.json", lambda data: data.update(decided_by="synthesis"), r"outcome\.json .*no synthesis is there"),
    ],
)
def test_a_file_changed_by_hand_is_named(
    files: DebateFiles, folder: SwarmFolder, name: str, change: Callable[[dict[str, Any]], object], why: str
) -> None:
    whole(files)
    changed(folder.debates / ID / name, change)
    with pytest.raises(LedgerError, match=why):
        DebateFiles(folder).load(ID)


@pytest.mark.parametrize(
    ("votes", "verdict", "cites", "fits"),
    [
        (("REJECT", "REJECT"), "APPROVE", ("r2-msg-001",), False),
        (("APPROVE", "REJECT"), "APPROVE", ("r2-msg-001",), True),
        (("APPROVE", "REJECT"), "APPROVE", (), False),
        (("APPROVE", "REJECT"), "REJECT", (), True),
        (("REJECT", "ABSTAIN"), "APPROVE", ("r2-msg-002",), False),
        (("APPROVE", "APPROVE"), "ABSTAIN", (), False),
    ],
)
def test_a_synthesis_is_held_to_the_votes(
    files: DebateFiles, votes: tuple[str, str], verdict: str, cites: tuple[str, ...], *, fits: bool
) -> None:
    files.keep_round(ID, held(1))
    last = held(2, final=True)
    ballots = [Ballot(vote=Vote(each), confidence=1) for each in votes]
    spoken = [
        speech.model_copy(update={"ballot": ballot}) for speech, ballot in zip(last.speeches, ballots, strict=True)
    ]
    files.keep_round(ID, last.model_copy(update={"speeches": tuple(spoken)}))
    count = {key: list(votes).count(word) for key, word in (("approve", "APPROVE"), ("reject", "REJECT"))}
    synthesis = {"verdict": verdict, "summary": "so it is", "reasons": [{"text": "as was said", "cites": cites}]}
    made = outcome().model_copy(
        update={
            "verdict": Vote(verdict),
            "decided_by": "synthesis",
            "tally": Tally(**count, abstain=votes.count("ABSTAIN")),
            "synthesis": Synthesis.model_validate(synthesis),
        }
    )
    files.keep_outcome(made)
    if fits:
        assert files.load(ID).outcome == made
    else:
        with pytest.raises(LedgerError, match=r"its verdict|its synthesis breaks a rule"):
            files.load(ID)


def test_who_knows_the_newest_hash_notices_files_that_were_rewritten_as_a_whole(
    files: DebateFiles, folder: SwarmFolder
) -> None:
    files.keep_round(ID, held(1))
    kept, place = files.head(ID), folder.debates / ID / "round-1.json"
    assert kept == hashlib.sha256(place.read_bytes()).hexdigest()
    files.load(ID, head=kept)
    changed(place, lambda data: data["speeches"][0].update(text="something else"))
    DebateFiles(folder).load(ID)
    with pytest.raises(LedgerError, match=r"round-1\.json .*not what the ledger has on record"):
        files.load(ID, head=kept)


def test_a_round_that_was_exchanged_while_the_next_one_was_held_is_noticed(
    files: DebateFiles, folder: SwarmFolder
) -> None:
    files.keep_round(ID, held(1))
    changed(folder.debates / ID / "round-1.json", lambda data: data["speeches"][0].update(text="something else"))
    files.keep_round(ID, held(2, final=True))
    with pytest.raises(LedgerError, match=r"round-2\.json .*does not follow"):
        files.load(ID, head=files.head(ID))


def test_a_round_in_which_all_failed_is_held_again(files: DebateFiles) -> None:
    failed = held(1)
    silent = tuple(each.model_copy(update={"text": "", "failed": "no answer"}) for each in failed.speeches)
    files.keep_round(ID, failed.model_copy(update={"speeches": silent}))
    files.keep_round(ID, held(1))
    files.keep_round(ID, held(2, final=True))
    assert files.rounds(ID) == (held(1), held(2, final=True))


def test_names_that_look_like_keys_stay(folder: SwarmFolder) -> None:
    seats = (Seat(id="sk-learn-maintainer-one", model="local/sk-model", brief="sk-brief"), Seat(id="bob"))
    files = DebateFiles(folder, redact=lambda text: "[redacted]" if text.startswith("sk-") else text)
    files.begin(debate(seats=seats))
    files.keep_round(
        ID,
        held(1).model_copy(
            update={
                "order": ("sk-learn-maintainer-one", "bob"),
                "speeches": (
                    Speech(id="r1-msg-001", round=1, seat="sk-learn-maintainer-one", text="sk-text"),
                    Speech(id="r1-msg-002", round=1, seat="bob", failed="sk-failed"),
                ),
            }
        ),
    )
    record = files.load(ID)
    assert (record.debate.seats[0].id, record.debate.seats[0].model) == ("sk-learn-maintainer-one", "local/sk-model")
    assert record.debate.seats[0].brief == "[redacted]"
    (held_round,) = record.rounds
    assert held_round.order == ("sk-learn-maintainer-one", "bob")
    assert [each.text or each.failed for each in held_round.speeches] == ["[redacted]", "[redacted]"]
