from __future__ import annotations

import json

import pytest

from swarmgate.domain.debate import Debate, Outcome, Round, Seat, Speech, Tally, Vote
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
    speech = Speech(id=f"r{number}-msg-001", round=number, seat="advocate", text=text)
    return Round(number=number, final=final, order=("advocate", "challenger"), speeches=(speech,))


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
    files.begin(files.debate("other"))


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
