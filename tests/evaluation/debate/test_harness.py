"""Tests the debate experiment against an HTTP endpoint: input files, cache, and when it decides."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.evaluation.debate.simulated import JudgesServer, ballot, items, judges

from swarmgate.domain.usage import Allowance
from swarmgate.errors import LedgerWriteFailed, UsageError
from swarmgate.evaluation.debate.harness import evaluate, setup_of
from swarmgate.evaluation.debate.report import DebateReport
from swarmgate.ledger.councils import debate_worth
from swarmgate.ledger.files.folder import SwarmFolder


@pytest.fixture(scope="module")
def server() -> Iterator[JudgesServer]:
    with JudgesServer(judges(1.0, 1.0)) as playing:
        yield playing


@pytest.fixture
def home(tmp_path: Path, server: JudgesServer) -> Path:
    server.requests.clear()
    return configured(tmp_path / "home", server)


def configured(folder: Path, server: JudgesServer, more: str = "", head: str = "") -> Path:
    (folder / ".swarm").mkdir(parents=True, exist_ok=True)
    text = f'{head}\n[providers.l]\nbase_url = "{server.base_url}"\n{more}'
    (folder / ".swarm/config.toml").write_text(text)
    return folder


def written(home: Path, number: int) -> Path:
    path = home / "items.jsonl"
    path.write_text("\n".join(item.model_dump_json() for item in items(number)))
    return path


def measured(home: Path, number: int = 2, **more: Any) -> DebateReport:
    """Two voices, one round, one repeat, so that an item takes two calls an arm."""
    setup = setup_of("l/a", more.pop("arms", "parallel,debate"), repeats=1, participants=2, rounds=1, limit=None)
    fixtures = more.pop("fixtures", None) or written(home, number)
    return evaluate(fixtures, setup, start=home, environ={}, **more)


def worth(home: Path) -> Any:
    return debate_worth.read(SwarmFolder.find(home))


# --- when a decision is written ---


@pytest.mark.slow
def test_a_decision_that_is_sure_is_written(home: Path) -> None:
    report = measured(home, 30)
    assert report.decision is not None
    assert (report.decision.decision, report.decision.sure, report.undecided) == ("defer", True, "")
    assert report.places.decision == str(home / ".swarm/debate-worth.json")
    found = worth(home)
    assert (found.decision, found.lift, found.items) == ("defer", 0.0, 30)
    assert found.fixtures == report.fixtures_sha256
    again = DebateReport.model_validate_json(Path(report.places.json_file).read_bytes())
    assert again == report, "the file says, too, that it was written"


@pytest.mark.slow
def test_a_smoke_test_switches_nothing_off_unless_asked_to(home: Path) -> None:
    report = measured(home, 6)
    assert report.decision is not None
    assert not report.decision.sure
    assert report.undecided == "it is NOT SURE; --write-decision writes it all the same"
    assert worth(home) is None
    assert measured(home, 6, write_decision=True).undecided == ""
    assert worth(home).items == 6


@pytest.mark.slow
def test_what_is_not_to_be_written_or_decides_nothing_is_not_written(home: Path) -> None:
    assert measured(home, 30, write_decision=False).undecided == "--no-decision was given"
    one_label = home / "bad.jsonl"
    one_label.write_text("\n".join(item.model_dump_json() for item in items(60) if item.label == "bad"))
    report = measured(home, fixtures=one_label, write_decision=True)
    assert report.decision is None
    assert report.undecided.startswith("all items are bad")
    assert worth(home) is None


@pytest.mark.slow
def test_refused_calls_leave_the_file_as_it_is(home: Path) -> None:
    """The decision is sure but for what nobody could read: the reason not to write it counts, asked for or not."""

    def speak(headers: Mapping[str, str], _brief: str) -> str:
        return "Well." if headers["PARTICIPANT"] == "challenger" else ballot("APPROVE")

    with JudgesServer(speak) as mumbling:
        configured(home, mumbling)
        report = measured(home, 30, write_decision=True)
    assert report.undecided == "debate: 30 of 60 ballots could not be read"
    assert worth(home) is None


@pytest.mark.slow
def test_a_report_that_cannot_be_written_leaves_no_decision(home: Path) -> None:
    (home / "blocked").write_text("in the way")
    with pytest.raises(LedgerWriteFailed):
        measured(home, 30, out=home / "blocked")
    assert worth(home) is None


# --- what is read, once ---


@pytest.mark.slow
def test_fixtures_that_change_or_go_during_a_run_are_those_that_were_read(home: Path) -> None:
    path = written(home, 4)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    changed = measured(home, fixtures=path, on_progress=lambda _text: path.write_text("other"))
    assert changed.fixtures_sha256 == digest
    path = written(home, 4)
    gone = measured(home, fixtures=path, on_progress=lambda _text: path.unlink(missing_ok=True))
    assert (gone.fixtures_sha256, gone.id) == (digest, changed.id)


@pytest.mark.slow
def test_what_is_doubtful_is_told_before_the_first_call(home: Path, server: JudgesServer) -> None:
    told: list[tuple[int, str]] = []
    setup = setup_of("l/a,l/b", "single", repeats=3, participants=2, rounds=1)
    evaluate(written(home, 2), setup, start=home, environ={},
             on_progress=lambda text: told.append((len(server.requests), text)))  # fmt: skip
    assert (0, f"warning: {setup.warnings[0]}") in told
    assert setup_of("l/a,l/b", "single").repeats == 4


@pytest.mark.slow
def test_an_item_that_does_not_fit_is_named_before_the_first_call(home: Path, server: JudgesServer) -> None:
    path = written(home, 4)
    path.write_text(path.read_text().replace("Design number 3.", "Design number 3. " + "x " * 500_000))
    for arms in ("parallel,debate", "single"):
        with pytest.raises(UsageError, match=r"items that do not fit: item-3\. item-3: .* can read"):
            measured(home, fixtures=path, arms=arms)
    assert server.requests == []


# --- what is kept, and what is spent ---


@pytest.mark.slow
def test_settings_that_change_the_answer_are_asked_anew_and_patience_is_not(home: Path, server: JudgesServer) -> None:
    assert measured(home).asked == 8
    configured(home, server, more="timeout_s = 77\nmax_retries = 1\n")
    assert measured(home).asked == 0
    configured(home, server, more='headers = { "x-deployment" = "another-model" }\n')
    assert measured(home).asked == 8
    configured(home, server, more="stream = false\n")
    assert measured(home).asked == 8


def test_the_budget_sees_what_was_spent(home: Path, server: JudgesServer) -> None:
    report = measured(home, 30, allowance=Allowance(tokens=20_000))
    assert report.exit_code == 4
    assert 0 < report.done < 30
    assert report.asked == len(server.requests) < 120
    assert worth(home) is None


@pytest.mark.slow
def test_a_slow_endpoint_is_no_verdict(home: Path, server: JudgesServer) -> None:
    configured(home, server, head="[council]\ntimeout_s = 1\n")
    server.latency_s = 1.6
    try:
        report = measured(home, 12)
    finally:
        server.latency_s = 0.0
        configured(home, server)
    assert report.exit_code == 5
    assert "no answer in the time of a voice" in report.partial
    assert report.decision is None
    again = measured(home, 12)
    assert all(each.right and not each.refused for each in again.judgements)


@pytest.mark.slow
def test_a_model_is_named_once_in_what_is_told(home: Path) -> None:
    told: list[str] = []
    (home / ".swarm/config.toml").write_text('[providers.l]\nbase_url = "http://127.0.0.1:9/v1"\nmax_retries = 1\n')
    report = measured(home, 2, on_progress=told.append)
    retries = [text for text in told if "fail" in text]
    assert retries
    assert all(text.startswith("l/a: ") and text.count("l/a") == 1 for text in retries), retries
    assert report.exit_code == 5 or report.undecided
