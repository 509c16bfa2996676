from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swarmgate.council.discussion.model import Discussion, DiscussionRound, Message, Mode, Position, Step
from swarmgate.council.masking import masked
from swarmgate.council.record_texts import Documents
from swarmgate.council.records import NAMES, Manifest, Records, request_hash
from swarmgate.domain.base import Frozen, Text
from swarmgate.domain.redaction import redact
from swarmgate.domain.usage import Usage
from swarmgate.errors import CouncilRefused, LedgerError, LedgerWriteFailed
from swarmgate.journal.documents import FileDocuments
from swarmgate.journal.store import opened
from swarmgate.ledger.folder import SwarmFolder

BOTH = pytest.mark.parametrize("kind", ["files", "sqlite"])
HIDDEN = "k3y-of-mine"
REQUEST = {"id": "mine", "topic": "Is it sound?"}

clean = partial(masked, redact=partial(redact, secrets=[HIDDEN]), names=NAMES)


def asked(id: str = "mine", **more: Any) -> Manifest:  # noqa: A002 - the field's name
    return Manifest.model_validate({"id": id, "pattern": "discussion", "request": REQUEST, **more})


def held(number: int, text: str = "It holds.") -> DiscussionRound:
    position = Position(position=text, confidence=0.5, would_change_if="never")
    said = Message(id=f"r{number}-msg-001", round=number, step=Step.POSITION, author="ann", position=position)
    return DiscussionRound(number=number, messages=(said,), done=(Step.POSITION,))


@pytest.fixture
def folder(tmp_path: Path) -> SwarmFolder:
    return SwarmFolder(tmp_path)


@pytest.fixture
def kind() -> Literal["files", "sqlite"]:
    return "files"


@pytest.fixture
def documents(folder: SwarmFolder, kind: Literal["files", "sqlite"]) -> Documents:
    return opened(folder.path, kind)


@pytest.fixture
def records(documents: Documents) -> Records:
    return Records(documents, clean=clean)


@pytest.fixture
def whole(records: Records) -> Records:
    """With the record `mine` of two rounds, one at work, and a cast."""
    records.begin(asked())
    for number in (1, 2):
        records.keep_round("mine", number, held(number))
    records.keep_partial("mine", 3, held(3))
    records.seal("mine", "cast.json", Usage(calls=7))
    return records


# --- what is kept ---


@BOTH
def test_a_record_is_read_again_as_it_was_kept(whole: Records, documents: Documents) -> None:
    whole.append("mine", "progress.md", "one\n")
    whole.append("mine", "progress.md", "two\n")
    whole.put("mine", "artifacts/synthesis.md", "# Synthesis\n")
    changed = whole.change("mine", status="paused", why="asked\nfor", usage=Usage(calls=3), seconds=2.5, more={"a": 1})
    again = Records(documents, clean=clean)
    assert again.manifest("mine", "discussion") == whole.manifest("mine") == changed
    assert (changed.status, changed.why, changed.more, changed.request) == ("paused", "asked for", {"a": 1}, REQUEST)
    assert again.rounds("mine", DiscussionRound) == (held(1), held(2))
    assert again.partial("mine", 3, DiscussionRound) == held(3)
    assert again.partial("mine", 2, DiscussionRound) is None is again.partial("mine", 4, DiscussionRound)
    assert (again.sealed("mine", "cast.json", Usage), again.sealed("mine", "other", Usage)) == (Usage(calls=7), None)
    assert (again.get("mine", "progress.md"), again.get("mine", "none")) == ("one\ntwo\n", None)
    whole.put("mine", "proposed.json", Usage())
    whole.drop("mine", "proposed.json")
    names = ("artifacts/synthesis.md", "cast.json", "manifest.json", "progress.md")
    assert again.names("mine") == (*names, "rounds/001.json", "rounds/002.json", "rounds/003.json.partial")


def test_the_files_are_json_of_the_models_with_a_chain(whole: Records, folder: SwarmFolder) -> None:
    first, second = (json.loads(whole.get("mine", f"rounds/00{number}.json") or "") for number in (1, 2))
    manifest = json.loads((folder.discussions / "mine" / "manifest.json").read_text())
    assert first["messages"][0]["position"]["wouldChangeIf"] == "never"
    assert second["before"] == manifest["rounds"][0]
    assert re.fullmatch("[0-9a-f]{64}", manifest["seal"])
    text = (folder.discussions / "mine" / "rounds" / "001.json").read_text()
    assert text.startswith('{\n "before": "')
    assert text.endswith("}\n")


def test_beyond_999_rounds_their_names_grow(records: Records, documents: Documents) -> None:
    records.begin(asked())
    there = records.manifest("mine")
    for number in (999, 1000):
        kept = there.model_copy(update={"rounds": ("0" * 64,) * (number - 1)})
        records._keep(kept)
        records.keep_round("mine", number, held(number))
    assert {"rounds/999.json", "rounds/1000.json"} <= set(documents.names("mine"))


_TEXT = st.text(max_size=60)


@settings(max_examples=30)
@given(texts=st.lists(_TEXT, max_size=3), request_=st.dictionaries(_TEXT, _TEXT, max_size=3), more=_TEXT)
def test_anything_that_can_be_said_is_read_again(texts: list[str], request_: dict[str, str], more: str) -> None:
    with tempfile.TemporaryDirectory() as place:
        documents = FileDocuments(SwarmFolder(Path(place)).path)
        records = Records(documents, clean=lambda value: value)
        manifest = asked(request=request_, more={"said": [more]})
        assert records.begin(manifest) == records.begin(manifest)
        rounds = tuple(held(number, text) for number, text in enumerate(texts, start=1))
        for each in rounds:
            records.keep_partial("mine", each.number, each)
            records.keep_round("mine", each.number, each)
        records.append("mine", "progress.md", more)
        again = Records(documents, clean=lambda value: value)
        assert again.manifest("mine") == records.manifest("mine")
        assert again.rounds("mine", DiscussionRound) == rounds
        assert again.get("mine", "progress.md") == more.encode("utf-8", "replace").decode()


@BOTH
def test_secrets_are_masked_wherever_they_stand_and_names_are_left_alone(records: Records, folder: SwarmFolder) -> None:
    """A name that looks like a secret would lead nowhere once it is masked."""
    name = "ghp_abcdefghijklmnopqrstuvwxyz"
    said = Message(id="r1-msg-001", round=1, step=Step.POSITION, author=name, text=f"I use {HIDDEN}.")
    records.begin(asked(request={"topic": f"{HIDDEN}?"}, why=HIDDEN, more={"note": [HIDDEN]}))
    records.keep_partial("mine", 1, DiscussionRound(number=1, messages=(said,)))
    records.keep_round("mine", 1, DiscussionRound(number=1, messages=(said,), direction=f"towards {HIDDEN}"))
    records.append("mine", "progress.md", f"- {HIDDEN}\n")
    records.put("mine", "context/summary.md", HIDDEN)
    records.seal("mine", "cast.json", Message(id=HIDDEN, round=1, step=Step.POSITION, author="ann", text=HIDDEN))
    records.change("mine", why=HIDDEN, more={"b": HIDDEN}, request_hash=HIDDEN)
    (kept,) = records.rounds("mine", DiscussionRound)
    assert (kept.messages[0].author, kept.messages[0].text) == (name, "I use [redacted].")
    assert records.begin(asked(request={"topic": f"{HIDDEN}?"})).request == {"topic": "[redacted]?"}
    texts = [path.read_bytes() for path in folder.path.rglob("*") if path.is_file()]
    assert sum(text.count(HIDDEN.encode()) for text in texts) == 2  # the id and the hash


# --- taken up, refused ---


def test_the_same_request_is_taken_up_and_another_one_refused(whole: Records, documents: Documents) -> None:
    whole.change("mine", status="paused")
    again = Records(documents, clean=clean)
    assert (again.begin(asked()).status, len(again.begin(asked()).rounds)) == ("paused", 2)
    with pytest.raises(CouncilRefused, match=r"another discussion with the id mine: it differs in `topic`, `mode`"):
        again.begin(asked(request={"id": "mine", "topic": "Else?", "mode": "deep"}))
    with pytest.raises(CouncilRefused, match="There is a discussion with the id mine"):
        again.begin(asked(pattern="critique"))


def test_rounds_come_one_after_the_other_and_what_is_sealed_stays(whole: Records) -> None:
    for number in (1, 2, 4):
        with pytest.raises(CouncilRefused, match=f"Round {number} of the discussion mine is not the next one"):
            whole.keep_round("mine", number, held(number))
    whole.seal("mine", "cast.json", Usage(calls=7))
    with pytest.raises(CouncilRefused, match=r"\.swarm/discussions/mine/cast\.json is there already"):
        whole.seal("mine", "cast.json", Usage(calls=8))
    with pytest.raises(CouncilRefused, match="has rounds"):
        whole.change("mine", request={})


def test_the_request_may_change_before_the_first_round(records: Records) -> None:
    records.begin(asked())
    records.change("mine", request={"topic": HIDDEN}, request_hash="new")
    records.keep_round("mine", 1, held(1))
    assert records.rounds("mine", DiscussionRound) == (held(1),)
    assert records.manifest("mine").request == {"topic": "[redacted]"}


@pytest.mark.parametrize("name", ["", "..", "a/b", "a..b", ".a", "x" * 81, "a b", "a\n"])
def test_what_is_no_id_is_refused(records: Records, name: str) -> None:
    with pytest.raises(CouncilRefused, match="is no id of a decision"):
        records.manifest(name, "decision")
    with pytest.raises(CouncilRefused, match="is no id of a decision"):
        records.begin(asked(name, pattern="decision"))


def test_an_unknown_id_is_refused_with_the_nearest(records: Records) -> None:
    with pytest.raises(CouncilRefused, match=r"There is no discussion 'mime'") as refused:
        records.manifest("mime", "discussion")
    assert refused.value.hint == "There is no discussion yet."
    records.begin(asked())
    with pytest.raises(CouncilRefused) as refused:
        records.rounds("mime", DiscussionRound)
    assert refused.value.hint == "Did you mean mine?"
    with pytest.raises(CouncilRefused, match="There is no critique 'mine'"):
        records.manifest("mine", "critique")


# --- looking ---


@BOTH
def test_ids_are_listed_the_newest_first_and_found_by_their_request(records: Records, documents: Documents) -> None:
    for name, day, pattern in (("a", 3, "discussion"), ("b", 1, "discussion"), ("c", 2, "decision")):
        records.begin(asked(name, pattern=pattern, created_at=f"2026-01-0{day}", request_hash="same"))
    documents.put("half", "progress.md", "killed before it began")
    assert (records.ids(), records.ids("discussion"), records.ids("critique")) == (("a", "c", "b"), ("a", "b"), ())
    assert records.find("discussion", "same") == ""
    for name in ("a", "b", "c"):
        records.change(name, status="complete")
    assert [records.find("discussion", each) for each in ("same", "other", "")] == ["a", "", ""]
    documents.put("a", "manifest.json", (documents.get("a", "manifest.json") or "").replace("2026-01-03", "2026-01-09"))
    assert (records.find("discussion", "same"), records.find("decision", "same")) == ("b", "c")
    documents.put("a", "manifest.json", "{")
    assert records.ids("decision") == ("c", "a"), "what cannot be read may be anything: nobody loses sight of it"


@BOTH
def test_one_that_cannot_be_read_is_listed_and_keeps_no_other_from_being_found(
    records: Records, documents: Documents, folder: SwarmFolder, kind: str
) -> None:
    records.begin(asked("good", request_hash="abc", status="complete"))
    for name in ("torn", "folder", "linked"):
        documents.put(name, "progress.md", "")
    if kind == "files":
        (folder.discussions / "torn" / "manifest.json").write_bytes(b"\xff\xfe")
        (folder.discussions / "folder" / "manifest.json").mkdir()
        (folder.discussions / "linked" / "manifest.json").symlink_to(folder.discussions / "good" / "manifest.json")
    else:
        for name in ("torn", "folder", "linked"):
            documents.put(name, "manifest.json", "[")
    assert records.ids("discussion") == ("good", "torn", "linked", "folder")
    assert records.find("discussion", "abc") == "good"
    with pytest.raises(CouncilRefused, match="There is no discussion 'goood'"):
        records.manifest("goood", "discussion")
    with pytest.raises(LedgerError, match=r"torn/manifest\.json"):
        records.manifest("torn")


def test_what_begins_inside_of_another_says_so_and_keeps_that(documents: Documents) -> None:
    records = Records(documents, clean=clean, part_of=lambda: "nightly")
    assert records.begin(asked(more={"choices": 1})).more == {"part_of": "nightly", "choices": 1}
    assert records.change("mine", more={"choices": 2}).more == {"part_of": "nightly", "choices": 2}
    assert records.begin(asked("own", more={"part_of": "vote"})).more == {"part_of": "vote"}
    assert records.begin(asked("nightly")).more == {}


def test_a_request_is_the_same_whatever_its_id() -> None:
    def found(topic: str = "T", id: str = "a", **more: Any) -> str:  # noqa: A002 - the field's name
        given_ = {"models": {"ann": "local/one"}, "state": "s", "pattern": "discussion", **more}
        mode = given_.pop("mode", Mode.DEEP)
        return request_hash(given_.pop("pattern"), Discussion(id=id, topic=topic, mode=mode), **given_)

    same = found()
    assert found(id="b") == same
    assert found(models={"ann": "local/one"}) == same
    others = [
        found("U"),
        found(mode=Mode.STANDARD),
        found(models={"ann": "local/two"}),
        found(models={"bob": "local/one"}),
        found(state="t"),
        found(pattern="decision"),
    ]
    assert len({same, *others}) == 7


# --- changed by hand ---

ROUND = "rounds/001.json"


@BOTH
@pytest.mark.parametrize(
    ("name", "old", "new", "why"),
    [
        (ROUND, "It holds.", "It fails.", "it is not what manifest.json has on record"),
        ("rounds/002.json", "\n}", "}", "it is not what manifest.json has on record"),
        ("rounds/003.json.partial", "It holds.", "It fails.", "its `seal` is not that of what it says"),
        ("cast.json", "7", "8", "it is not what manifest.json has on record"),
        ("manifest.json", "Is it sound?", "Is it safe?", "its `seal` is not that of what it says"),
        ("manifest.json", '"open"', '"complete"', "its `seal` is not that of what it says"),
        ("manifest.json", "{", "", "it is no JSON"),
    ],
)
def test_a_text_changed_by_hand_is_refused_by_its_name(
    whole: Records, documents: Documents, name: str, old: str, new: str, why: str
) -> None:
    text = documents.get("mine", name) or ""
    assert old in text
    documents.put("mine", name, text.replace(old, new))
    expected = f"{documents.place('mine', name)} is damaged, or was changed by hand: {why}"
    with pytest.raises(LedgerError, match=re.escape(expected)) as refused:
        read(whole)
    assert "backup" in refused.value.hint


def read(records: Records) -> None:
    records.rounds("mine", DiscussionRound)
    records.partial("mine", 3, DiscussionRound)
    records.sealed("mine", "cast.json", Usage)


@pytest.mark.parametrize("name", ["rounds/001.json", "cast.json", "manifest.json"])
def test_a_missing_text_is_named(whole: Records, folder: SwarmFolder, name: str) -> None:
    (folder.discussions / "mine" / name).unlink()
    expected = rf"^\.swarm/discussions/mine/{re.escape(name)} is missing\.$"
    with pytest.raises(LedgerError, match=expected):
        read(whole)


def test_a_text_that_the_manifest_does_not_know_is_named(whole: Records, documents: Documents) -> None:
    documents.put("mine", "result.json", "{}")
    with pytest.raises(LedgerError, match=r"mine/result\.json .*: manifest\.json knows nothing of it"):
        whole.sealed("mine", "result.json", Usage)
    documents.rename("mine", "rounds/003.json.partial", "rounds/003.json")
    with pytest.raises(LedgerError, match=r"mine/rounds/003\.json .*: manifest\.json knows of no such round"):
        whole.rounds("mine", DiscussionRound)


def test_texts_of_another_record_are_refused(whole: Records, documents: Documents) -> None:
    whole.begin(asked("other", request={"topic": "Else?"}))
    whole.keep_partial("other", 1, held(1))
    documents.put("mine", "rounds/003.json.partial", documents.get("other", "rounds/001.json.partial") or "")
    with pytest.raises(LedgerError, match=r"003\.json\.partial .* does not follow the file before it"):
        whole.partial("mine", 3, DiscussionRound)
    documents.put("other", "manifest.json", documents.get("mine", "manifest.json") or "")
    with pytest.raises(LedgerError, match=r"other/manifest\.json .*: it is that of mine"):
        whole.manifest("other")


def test_a_text_of_another_shape_is_refused(whole: Records) -> None:
    class Other(Frozen):
        number: int
        missing: Text

    with pytest.raises(LedgerError, match=r"rounds/001\.json .*: `missing`: Field required"):
        whole.rounds("mine", Other)


# --- killed ---


class _Killed(Exception):
    """Where the process would have ended."""


class _Mortal(FileDocuments):
    """Writes so many times, and is killed before the next."""

    left = 1_000_000

    def put(self, record: str, name: str, text: str, *, durable: bool = True) -> None:
        self._count()
        super().put(record, name, text, durable=durable)

    def rename(self, record: str, old: str, new: str) -> None:
        self._count()
        super().rename(record, old, new)

    def _count(self) -> None:
        if self.left == 0:
            raise _Killed
        self.left -= 1


@pytest.mark.parametrize(("writes", "rounds"), [(0, 2), (1, 2), (2, 3), (3, 3)])
def test_a_kill_at_any_write_of_a_round_is_mended(
    whole: Records, folder: SwarmFolder, writes: int, rounds: int
) -> None:
    mortal = _Mortal(folder.path)
    writer = Records(mortal, clean=clean)
    mortal.left = writes
    try:
        writer.keep_round("mine", 3, held(3, "The end."))
    except _Killed:
        assert writes < 3
    for _ in range(2):
        assert len(whole.rounds("mine", DiscussionRound)) == rounds
        at_work = whole.partial("mine", 3, DiscussionRound)
        assert at_work == (None if rounds == 3 else held(3, "The end." if writes else "It holds."))
    if rounds == 3:
        assert "rounds/003.json.partial" not in whole.names("mine")


def test_a_reader_that_is_faster_than_the_writer_costs_nothing(folder: SwarmFolder) -> None:
    class _Overtaken(FileDocuments):
        def rename(self, record: str, old: str, new: str) -> None:
            Records(FileDocuments(folder.path), clean=clean).rounds(record, DiscussionRound)
            super().rename(record, old, new)

    records = Records(_Overtaken(folder.path), clean=clean)
    records.begin(asked())
    records.keep_round("mine", 1, held(1))
    assert records.rounds("mine", DiscussionRound) == (held(1),)


def test_what_can_only_be_read_is_read_unmended(whole: Records, folder: SwarmFolder) -> None:
    class _ReadOnly(FileDocuments):
        def rename(self, record: str, old: str, new: str) -> None:
            raise LedgerWriteFailed(f"{record}/{old} is read-only: {new}")

    mortal = _Mortal(folder.path)
    mortal.left = 2
    with pytest.raises(_Killed):
        Records(mortal, clean=clean).keep_round("mine", 3, held(3))
    assert len(Records(_ReadOnly(folder.path), clean=clean).rounds("mine", DiscussionRound)) == 3
    assert "rounds/003.json.partial" in whole.names("mine")


_KILLED = """
import json, os, random, signal, sys, time
from pathlib import Path
from types import ModuleType
from swarmgate.council.record_texts import Documents
from swarmgate.council.records import Manifest, Records
from swarmgate.council.discussion.model import DiscussionRound
from swarmgate.journal.store import opened
from swarmgate.ledger.folder import SwarmFolder

os.fsync = lambda descriptor: None  # a kill loses nothing that was written


def work(records, acknowledge):
    while True:
        number = len(records.rounds("mine", DiscussionRound)) + 1
        big = f"{number} " * random.Random(number).randrange(4000)  # the same when it is done again
        for part in range(3):
            records.keep_partial("mine", number, DiscussionRound(number=number, direction=f"{part} {big}"))
        records.append("mine", "progress.md", f"round {number}\\n")
        records.seal("mine", f"seals/{number}.md", big)
        records.keep_round("mine", number, DiscussionRound(number=number, direction=f"3 {big}"))
        os.write(acknowledge, b"%d\\n" % number)


chance = random.Random(7)
for kind in ("files", "sqlite"):
    place = Path(sys.argv[1], kind)
    place.mkdir()
    clean = lambda value: value
    records = Records(opened(SwarmFolder(place), kind), clean=clean)
    records.begin(Manifest(id="mine", pattern="discussion", request={}))
    for _ in range(10):
        out, into = os.pipe()
        child = os.fork()
        if child == 0:
            work(records, into)
        os.close(into)
        acknowledged = os.read(out, 1)
        time.sleep(chance.random() * 0.02)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        while more := os.read(out, 65536):
            acknowledged += more
        os.close(out)
        last = int(acknowledged.split()[-1])
        found = records.rounds("mine", DiscussionRound)
        partial = records.partial("mine", len(found) + 1, DiscussionRound)
        seals = [records.sealed_text("mine", name) for name in records.manifest("mine").sealed]
        assert [each.number for each in found] == list(range(1, len(found) + 1)), found
        assert last <= len(found) <= last + 1, (last, len(found))
        assert all(each.direction.startswith("3 ") for each in found)
        assert partial is None or partial.number == len(found) + 1
        assert len(found) <= len(seals) <= len(found) + 1 and None not in seals
        assert f"round {last}\\n" in records.get("mine", "progress.md")
    print(kind, last)
"""


@pytest.mark.slow
def test_kill_9_at_random_moments_loses_no_round_in_either_store(tmp_path: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", _KILLED, str(tmp_path)], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    assert [line.split()[0] for line in ran.stdout.splitlines()] == ["files", "sqlite"]
    assert all(int(line.split()[1]) >= 10 for line in ran.stdout.splitlines())
