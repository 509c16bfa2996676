"""Tests the baseline file of accepted findings: content, trust and errors."""

from __future__ import annotations

import json
from datetime import date
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import Finding, GateReport, GateStatus, Standing
from swarmgate.errors import ConfigError
from swarmgate.gates import baseline
from swarmgate.gates.source.file import Revision, SourceFile

if TYPE_CHECKING:
    from pathlib import Path

    Project = Any

_ENTRY = '"fingerprint": "x", "gate": "g", "rule": "r", "path": "p", "reason": "y", "date": "%s"'
_DATED = '{"version": 1, "accepted": [{' + _ENTRY + "}]}"

DAY = date(2026, 5, 1)
SOURCE = SourceFile.of("a.py", "python", content=b"one\ntwo\n")


def marked(finding: Finding, entry: baseline.Accepted, source: SourceFile = SOURCE) -> tuple[list[Finding], int]:
    return baseline.mark([finding], {entry.fingerprint: entry}, {source.path: source}, DAY)


def entry_of(finding: Finding, *, expires: date | None = None, gate: str = "g") -> baseline.Accepted:
    (known,) = baseline.with_fingerprints([finding], {SOURCE.path: SOURCE})
    return baseline.entry(known, gate, "two", reason="because", who="Ada", expires=expires)


FINDING = Finding(rule="R", path="a.py", line=2, message="m")


def test_an_entry_holds_for_its_line_wherever_it_moves() -> None:
    entry = entry_of(FINDING)
    assert marked(FINDING, entry)[0][0].accepted == "because"
    moved = SourceFile.of("a.py", "python", content=b"\n\n   two\n")
    assert marked(FINDING.model_copy(update={"line": 3}), entry, moved)[0][0].accepted
    assert not marked(FINDING.model_copy(update={"line": 1}), entry)[0][0].accepted
    assert not marked(FINDING.model_copy(update={"rule": "S"}), entry)[0][0].accepted


def test_an_entry_holds_in_a_renamed_file() -> None:
    renamed = SourceFile.of("b.py", "python", content=SOURCE.content, old=Revision("a.py"))
    assert marked(FINDING.model_copy(update={"path": "b.py"}), entry_of(FINDING), renamed)[0][0].accepted


def test_an_entry_ends_on_its_day() -> None:
    (found,), expired = marked(FINDING, entry_of(FINDING, expires=DAY))
    assert (found.accepted, expired) == ("", 1)
    assert marked(FINDING, entry_of(FINDING, expires=date(2026, 5, 2)))[1] == 0


def test_a_secrets_line_is_not_even_hashed() -> None:
    assert entry_of(FINDING).line_hash
    assert not entry_of(FINDING, gate="secret_scan").line_hash


def test_what_is_written_is_read_and_ordered(tmp_path: Path) -> None:
    entries = [entry_of(FINDING), entry_of(Finding(rule="A", path="a.py", line=1, message="m"), expires=DAY)]
    baseline.write(tmp_path, entries)
    assert baseline.on_disk(tmp_path) == tuple(reversed(entries))
    assert json.loads((tmp_path / baseline.FILE).read_text())["accepted"][0]["expires"] == "2026-05-01"
    assert baseline.on_disk(tmp_path / "nowhere") == ()


@pytest.mark.parametrize(
    ("text", "named"),
    [("{", "not a baseline"), ("[]", "not a baseline"), ('{"version": 2, "accepted": []}', "version 2"),
     ('{"version": 1, "accepted": [{"fingerprint": "x"}]}', "key 'gate'"),
     (_DATED % "soon", "key 'date'")],
)  # fmt: skip
def test_a_broken_file_is_named_with_its_key(tmp_path: Path, text: str, named: str) -> None:
    place = tmp_path / baseline.FILE
    place.parent.mkdir(parents=True)
    place.write_text(text)
    with pytest.raises(ConfigError, match=r"baseline\.json") as caught:
        baseline.on_disk(tmp_path)
    assert named in caught.value.message


def accept_all(project: Project) -> tuple[baseline.Accepted, ...]:
    result = project.gate("placeholder_scan")
    assert result.status is GateStatus.FAIL
    return tuple(
        baseline.entry(finding, "placeholder_scan", "", reason="known", who="", expires=None)
        for finding in result.findings
    )


@pytest.mark.slow
def test_of_an_agents_change_only_what_the_base_accepts_counts(project: Project) -> None:
    project.write("a.py", "x = 1  # TODO: later\n")
    entries = accept_all(project)
    baseline.write(project.root, entries)
    report = project.run()
    result = next(each for each in report.results if each.gate == "placeholder_scan")
    assert result.status is GateStatus.FAIL
    assert any("baseline.json accepts 1 finding more" in note for note in report.notes)
    (project.root / "a.py").unlink()
    project.commit_files({"b.txt": ""})
    project.write("a.py", "x = 1  # TODO: later\n")
    report = project.run()
    result = next(each for each in report.results if each.gate == "placeholder_scan")
    assert (result.status, report.notes) == (GateStatus.PASS, ())
    assert GateReport(tree="", results=(result,)).counts == {Standing.ACCEPTED: 1}
