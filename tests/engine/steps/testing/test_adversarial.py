"""Adversarial tests: those that hold are kept, those that fail count once their expectation is confirmed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import pytest
from tests.misbehaviour.case import case
from tests.project import Project, Rule, call, code, plain, review, rule, verdict

from swarmgate.domain.events import event as ev
from swarmgate.domain.events.event import AttemptKind
from swarmgate.domain.review.evidence import Remark, Review, TestRun, Verdict
from swarmgate.domain.review.finding import Severity
from swarmgate.domain.state.state import Attempt, TaskRecord
from swarmgate.engine.steps.testing.adversarial import Attack, Outcome, judged, outcome

ALWAYS: dict[str, dict[str, Any]] = {"tests": {"adversarial": "always"}}
MODULE = "src/calc/share.py"
BAD = '"""Shares."""\n\n\ndef share(whole: int, parts: int) -> int:\n    """One part."""\n    return whole // parts\n'
GOOD = BAD.replace("    return whole // parts", "    return whole // parts if parts else 0")
HEAD = "import sys\n\nsys.path.insert(0, 'src')\n\nfrom calc.share import share\n\n\n"
ZERO = HEAD + "def test_zero() -> None:\n    assert share(1, 0) == 0\n"
HOLDS = HEAD + "def test_negative() -> None:\n    assert share(-4, 2) == -2\n"


def attacks(files: Mapping[str, str], word: str = "APPROVED", **match: Any) -> Rule:
    writes = [call("write_file", path=path, content=text) for path, text in files.items()]
    return rule("test_engineer", "adversarial_test", [*writes, verdict(word, "attacked")], **match)


def confirms(word: str, *files: str) -> Rule:
    """What the reviewer says of failing tests."""
    findings = [{"severity": "high", "file": path, "message": "not what the task says"} for path in files]
    said = call("submit_verdict", verdict=word, summary=f"expectation {word}", findings=findings)
    return rule("reviewer", "review", [said], contains="Adversarial tests that fail")


@pytest.mark.slow
def test_attacks_that_hold_are_kept_and_committed(project: Project) -> None:
    project.planned(code({MODULE: GOOD}), attacks({"tests/test_attacks.py": HOLDS}), **ALWAYS)
    project.swarm("run", exits=3)
    (event,) = project.events(ev.AdversarialTestsWritten)
    assert (event.tests, event.rejected) == (("tests/test_attacks.py",), ())
    assert "tests/test_attacks.py" in project.git("show", "--name-only", "--format=")
    assert project.events(ev.TestsRun)[0].run.passed == 2
    assert (project.folder.evidence / "1.1/attempt-1/adversarial.json").is_file()
    assert "adversarial tests (local/senior): APPROVED" in plain(project.swarm("show", "1.1").stdout)
    project.swarm("verify")


@pytest.mark.slow
@case(
    "lies",
    "code that is right for the tested inputs alone",
    "adversarial tests: one fails, the reviewer confirms it, the attempt is rejected with its output",
)
def test_a_confirmed_failure_rejects_the_attempt_with_its_output(project: Project) -> None:
    project.planned(
        code({MODULE: BAD}),
        code({MODULE: GOOD}, attempt="2"),
        attacks({"tests/test_attacks.py": ZERO}, "REJECTED"),
        attacks({"tests/test_more.py": HOLDS}, attempt="2"),
        confirms("APPROVED"),
        **ALWAYS,
    )
    project.swarm("run", exits=3)
    first, second = project.state.task("1.1").attempts
    assert first.stage == "adversarial_tests"
    assert "1 of 1 tests failed" in first.reason
    assert "ZeroDivisionError" in first.feedback[0].message
    assert "ZeroDivisionError" in project.briefs("coder", "code", attempt="2")[0]
    (brief,) = [text for text in project.briefs("reviewer", "review") if "Adversarial tests that fail" in text]
    assert "def test_zero()" in brief
    assert "ZeroDivisionError" in brief
    assert second.outcome == "COMPLETE"  # and the attack of the first attempt is a test now, which passes
    assert {"tests/test_attacks.py", "tests/test_more.py"} <= set(project.git("ls-files").split())


@pytest.mark.slow
@case(
    "lies",
    "an adversarial test that expects what nobody asked for",
    "the reviewer does not confirm it: it is taken out, and that is on record",
)
def test_a_failure_that_is_not_confirmed_is_taken_out(project: Project) -> None:
    files = {"tests/test_attacks.py": ZERO, "tests/test_more.py": HOLDS}
    project.planned(code({MODULE: BAD}), attacks(files, "REJECTED"), confirms("REJECTED"), **ALWAYS)
    project.swarm("run", exits=3)
    (event,) = project.events(ev.AdversarialTestsWritten)
    assert (event.tests, event.rejected) == (("tests/test_more.py",), ("tests/test_attacks.py",))
    assert "tests/test_attacks.py" not in project.git("ls-files")
    assert project.quarantined("test_attacks.py")
    said = [each.note.detail for each in project.events(ev.GuardActed) if each.note.rule == "adversarial"]
    assert any("what it expects is not right: expectation REJECTED" in text for text in said)
    assert any("no test of it shows why" in text for text in said)
    shown = plain(project.swarm("show", "1.1").stdout)
    assert "taken out" in shown


@pytest.mark.slow
def test_a_test_that_cannot_be_collected_is_taken_out_and_rejects_nothing(project: Project) -> None:
    broken = "from calc.nowhere import nothing\n\n\ndef test_it() -> None:\n    assert nothing\n"
    project.planned(attacks({"tests/test_attacks.py": broken}), **ALWAYS)
    project.swarm("run", exits=3)
    (event,) = project.events(ev.AdversarialTestsWritten)
    assert (event.tests, event.rejected) == ((), ("tests/test_attacks.py",))
    assert len(project.briefs("reviewer", "review")) == 1


@pytest.mark.slow
@case(
    "files",
    "the second pass weakens an old test, plants a conftest.py, writes source",
    "refused by the tools, and taken back where a command wrote it",
)
def test_only_new_test_files_are_written(project: Project) -> None:
    weaker = "def test_start() -> None:\n    assert 1\n"
    tried = {"tests/test_calc.py": weaker, "tests/conftest.py": "collect_ignore = ['x']\n", MODULE: GOOD}
    sneaked = call("run_command", command="echo > tests/conftest.py; echo >> tests/test_calc.py; echo > tests/a.txt")
    writes = [call("write_file", path=path, content=text) for path, text in tried.items()]
    project.planned(rule("test_engineer", "adversarial_test", [*writes, sneaked, verdict()]), **ALWAYS)
    project.swarm("run", exits=3)
    (event,) = project.events(ev.AdversarialTestsWritten)
    assert event.tests == ()
    assert set(project.git("show", "--name-only", "--format=").split()) == {"src/calc/part_1.1.py"}
    assert project.quarantined("conftest.py")
    asked = [each for each in project.requests if each.headers.get("STEP") == "adversarial_test"]
    told = str(asked[-1].messages)
    assert "put adversarial tests into a new file" in told
    assert "would say how other tests are run" in told
    assert "is not a test file" in told
    assert "there is no new test file yet" in told


@pytest.mark.slow
def test_a_runner_that_takes_no_files_runs_the_suite_with_and_without_them(project: Project) -> None:
    project.planned(
        code({MODULE: BAD}),
        code({MODULE: GOOD}, attempt="2"),
        attacks({"tests/test_attacks.py": ZERO}),
        attacks({"tests/test_more.py": HOLDS}, attempt="2"),
        confirms("APPROVED"),
        tests={"adversarial": "always", "command": f"true && {sys.executable} -m pytest -q"},
    )
    project.swarm("run", exits=3)
    assert project.state.task("1.1").attempts[0].stage == "adversarial_tests"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("complexity", "module", "due"),
    [("SMALL", MODULE, 0), ("MEDIUM", MODULE, 1), ("SMALL", "src/calc/login.py", 1)],
)
def test_sensitive_and_bigger_tasks_are_attacked(project: Project, complexity: str, module: str, due: int) -> None:
    saved = {"id": "1.1", "title": "Part", "acceptance": ["a"], "files": [module], "complexity": complexity}
    phases = [{"name": "One", "tasks": [saved]}]
    project.planned(
        rule("architect", "plan", [call("save_plan", title="Parts", phases=phases)]), code({module: GOOD}), review()
    )
    project.swarm("run", exits=3)
    assert len(project.events(ev.AdversarialTestsWritten)) == due


@pytest.mark.slow
def test_an_attack_that_holds_must_not_fail_without_the_change(project: Project) -> None:
    holds = "def test_idle() -> None:\n    assert 1 + 1 == 2\n"
    project.planned(
        attacks({"tests/test_attacks.py": holds}),
        loop={"max_rejections": 1},
        tests={"adversarial": "always", "unproven": "warn"},
    )
    project.swarm("run", exits=3)
    (attempt,) = project.state.task("1.1").attempts
    assert (attempt.outcome, attempt.proof, attempt.attacks) == ("COMPLETE", None, ("tests/test_attacks.py",))
    notes = [each.note.detail for each in project.events(ev.GuardActed) if each.note.rule == "tests-can-fail"]
    assert len(notes) == 1
    assert notes[0].startswith("the change alters behaviour and brings no new test but adversarial ones")


@pytest.mark.slow
def test_the_attacker_may_rewrite_its_own_file_of_an_earlier_attempt(project: Project) -> None:
    project.planned(
        code({MODULE: BAD}),
        code({MODULE: GOOD}, attempt="2"),
        attacks({"tests/test_attacks.py": ZERO}, "REJECTED"),
        attacks({"tests/test_attacks.py": ZERO + "\n\n" + HOLDS.removeprefix(HEAD)}, attempt="2"),
        confirms("APPROVED"),
        **ALWAYS,
    )
    project.swarm("run", exits=3)
    assert project.state.task("1.1").attempts[-1].outcome == "COMPLETE"
    assert project.events(ev.AdversarialTestsWritten)[-1].tests == ("tests/test_attacks.py",)
    assert "def test_negative" in project.git("show", "HEAD:tests/test_attacks.py")


def run(exit_code: int | None, passed: int = 0, failed: int = 0, seconds: float = 1) -> TestRun:
    return TestRun(command="pytest", exit_code=exit_code, passed=passed, failed=failed, seconds=seconds)


@pytest.mark.parametrize(
    ("given", "kind", "expected"),
    [
        (run(0, passed=2), "pytest", Outcome.HELD),
        (run(1, passed=1, failed=1), "pytest", Outcome.BROKE),
        (run(2, failed=1), "pytest", Outcome.UNCOUNTED),  # not collected
        (run(2, failed=1), "cargo", Outcome.BROKE),
        (run(5), "pytest", Outcome.UNCOUNTED),  # no test in it
        (run(0), "pytest", Outcome.UNCOUNTED),  # all skipped
        (run(1), "jest", Outcome.UNCOUNTED),
        (run(None, seconds=60), "pytest", Outcome.BROKE),  # it hangs
        (run(None, seconds=1), "pytest", Outcome.UNCOUNTED),  # it could not be started
    ],
)
def test_what_a_run_shows(given: TestRun, kind: str, expected: Outcome) -> None:
    assert outcome(given, kind, timeout_s=60) is expected


def said(word: Verdict, *files: str) -> Review:
    found = tuple(Remark(severity=Severity.HIGH, message="m", file=path) for path in files)
    return Review(verdict=word, summary="so", findings=found)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        (said(Verdict.APPROVED), ["broke", "broke", "held"]),
        (said(Verdict.REJECTED), ["unconfirmed", "unconfirmed", "held"]),
        (said(Verdict.REJECTED, "./b.py"), ["broke", "unconfirmed", "held"]),
        (said(Verdict.REJECTED, "src/x.py"), ["unconfirmed", "unconfirmed", "held"]),
        (said(Verdict.APPROVED, "a.py"), ["broke", "broke", "held"]),
    ],
)
def test_the_reviewers_word_on_failing_tests(word: Review, expected: list[str]) -> None:
    failed, held = run(1, failed=1), run(0, passed=1)
    made = [
        Attack(files=("a.py",), run=failed, outcome=Outcome.BROKE),
        Attack(files=("b.py",), run=failed, outcome=Outcome.BROKE),
        Attack(files=("c.py",), run=held, outcome=Outcome.HELD),
    ]
    assert [each.outcome.value for each in judged(made, word)] == expected


def test_an_attack_that_the_test_engineer_writes_anew_is_its_own() -> None:
    def attempt(number: int, tests: tuple[str, ...], attacks: tuple[str, ...]) -> Attempt:
        return Attempt(number, AttemptKind.CODER, (), "", "", number, "", tests=tests, attacks=attacks)

    first = attempt(1, ("a.py", "b.py", "c.py"), ("b.py", "c.py"))
    assert TaskRecord(attempts=(first,)).attacks == {"b.py", "c.py"}
    assert TaskRecord(attempts=(first, attempt(2, ("b.py",), ()))).attacks == {"c.py"}
    assert TaskRecord(attempts=(first, attempt(2, ("b.py", "c.py"), ("c.py",)))).attacks == {"c.py"}
