"""Evaluates the records of a test run: its counts, and whether its runner reported the truth. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from swarmgate.domain.review.evidence import Canary
from swarmgate.workspace.test_runs import junit
from swarmgate.workspace.test_runs.canary.channel import UNREADABLE
from swarmgate.workspace.test_runs.counts import Counts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from swarmgate.workspace.process.process import Completed
    from swarmgate.workspace.test_runs.canary.channel import Channel, Session

_WORST = {"passed": 0, "skipped": 1, "failed": 2}
_LISTED = 3


@dataclass
class _Test:
    """One test: the outcomes of its phases, by the runner and as displayed."""

    name: str
    phases: dict[str, str] = field(default_factory=dict)
    displayed: dict[str, str] = field(default_factory=dict)

    def begin(self, record: dict[str, Any]) -> None:
        when, outcome = str(record["when"]), str(record["outcome"])
        if when == "setup":  # it is run again
            self.phases.clear()
            self.displayed.clear()
        before = self.phases.get(when, "passed")
        self.phases[when] = max(before, outcome, key=lambda each: _WORST.get(each, 0))

    @property
    def outcome(self) -> str:
        """The worst of all phases. A failure that a plugin of the project shows as skipped is skipped."""
        found = "passed"
        for when in {*self.phases, *self.displayed}:
            made = self.phases.get(when, "passed")
            displayed = self.displayed.get(when, made)
            each = "skipped" if (made, displayed) == ("failed", "skipped") else max(made, displayed, key=_worst)
            found = max(found, each, key=_worst)
        return found

    @property
    def turned(self) -> bool:
        """Whether a failure was shown as a pass."""
        return any(made == "failed" and self.displayed.get(when) == "passed" for when, made in self.phases.items())


def _worst(outcome: str) -> int:
    return _WORST.get(outcome, 0)


@dataclass(frozen=True)
class Verdict:
    """The verdict on a test run: its counts, and whether the runner reported the truth.

    Attributes:
        counts: of the project's own tests, where its runners told of them.
        tampered: why the runner was tampered with; empty where nothing says so.
        canary: what became of the canaries, or why there were none.
        ended: whether each runner that began came to its end.
        status: the exit codes that runners said they would end with.
        left: how many tests they ended before.
        turned: failures that were shown as passes.
        runner: which one it was, of the first; empty where none of ours said anything.
        greeted: whether there was a Python at all that would have loaded us.
    """

    counts: Counts | None = None
    tampered: str = ""
    canary: Canary = Canary()  # noqa: RUF009 - frozen
    ended: bool = True
    status: tuple[int, ...] = ()
    left: int = 0
    turned: tuple[str, ...] = ()
    runner: str = ""
    greeted: bool = False

    @property
    def ran(self) -> bool:
        """Whether a runner spoke."""
        return bool(self.runner)

    def objection(self, done: Completed, *, direct: bool) -> str:
        """Why the run is no proof, whatever it says of itself; empty where nothing speaks against it.

        Args:
            done: the command, which has ended.
            direct: whether it starts one runner that has to load us, and nothing else.
        """
        found = self.tampered
        if not found and done.ok:
            if self.turned:
                names = ", ".join(self.turned[:_LISTED])
                found = f"failures were turned to passes on their way out ({names})"
            elif not self.ended:
                found = "it did not come to its end, and ended with exit code 0"
            elif direct and self.greeted and not self.ran:
                found = "it never began: what ran in its place is something else"
            elif direct and self.counts and self.counts.failed:
                found = f"tests failed ({', '.join(self.counts.failures[:_LISTED])}), and it ended with exit code 0"
            elif self.left:
                found = f"it ended with exit code 0 before {self.left} of its tests were run"
            elif direct and any(self.status):
                found = f"it came to its end with exit code {max(self.status)}, and its process with 0"
        return f"the test runner was tampered with: {found}" if found else ""


def judge(channel: Channel, root: Path) -> Verdict:
    """Evaluates the records of a command that has ended; the absence of our own records counts against it."""
    try:
        return _judged(channel, root)
    except (LookupError, TypeError, ValueError):
        return Verdict(tampered=UNREADABLE, greeted=True)


def _judged(channel: Channel, root: Path) -> Verdict:
    begun = [session for session in channel.sessions.values() if _of("start", session)]
    if not begun:
        who = (
            "no runner of its tests loads it" if channel.greeted else "its tests run in no Python that takes PYTHONPATH"
        )
        return Verdict(tampered=_strange(channel), canary=Canary(missing=who), greeted=channel.greeted)
    tests = [test for session in begun for test in _tests(session)]
    found = [each for session in begun for each in _canaries(session)]
    wrong = next((each.wrong for each in sorted(found, key=lambda each: not each.must_fail) if each.wrong), "")
    broken = next((session.broken for session in begun if session.broken), "")
    bare = next((True for session in begun if _ran(session) and not _of("canary", session)), False)
    lacking = "no canary ran beside its tests: its hooks were taken out" if bare and _all_ended(begun) else ""
    return Verdict(
        counts=_counts(tests, begun, root),
        tampered=wrong or broken or lacking or _silent(begun) or _strange(channel),
        canary=_summary(found),
        ended=_all_ended(begun),
        status=tuple(record["status"] for session in begun for record in _of("end", session)),
        left=sum(record["left"] for session in begun for record in _of("end", session)),
        turned=tuple(test.name for test in tests if test.turned),
        runner=str(_of("start", begun[0])[0].get("runner", "")),
        greeted=True,
    )


def _summary(found: Sequence[_Probe]) -> Canary:
    failed = sum(each.held and each.must_fail for each in found)
    passed = sum(each.held and not each.must_fail for each in found)
    why = next((each.why for each in found if each.why), "none of them ran")
    return Canary(failed=failed, passed=passed, missing="" if failed else why)


def _of(kind: str, session: Session) -> list[dict[str, Any]]:
    return [record for record in session.records if record.get("kind") == kind]


def _ran(session: Session) -> bool:
    return any(record["outcome"] != "skipped" for record in _of("test", session))


def _all_ended(sessions: Sequence[Session]) -> bool:
    return all(_of("end", session) for session in sessions)


def _silent(begun: Sequence[Session]) -> str:
    """Why nothing is known of the workers of a parallel run that came to its end; empty where all is known."""
    starts = [record for session in begun for record in _of("start", session)]
    ends = [record["status"] for session in begun for record in _of("end", session)]
    return "none of its workers said anything" if all(each["distributes"] for each in starts) and 0 in ends else ""


def _strange(channel: Channel) -> str:
    return f"the channel of the runner was written to: {channel.strange}" if channel.strange else ""


# --- canaries ---


@dataclass(frozen=True)
class _Probe:
    """One canary. `wrong` says what happened to it that must not, `why` what kept it from running."""

    must_fail: bool
    held: bool
    wrong: str = ""
    why: str = ""


def _canaries(session: Session) -> Iterable[_Probe]:
    plan = session.plan.replace(".", "")
    for record in _of("canary", session):
        yield _canary(plan[record["number"]].isupper(), record)


def _canary(must_fail: bool, record: dict[str, Any]) -> _Probe:  # noqa: FBT001 - what the plan says of it
    if "error" in record:
        return _Probe(must_fail, held=False, why=str(record["error"]))
    outcomes, ran = record["outcomes"], record["ran"]
    setup, call = outcomes.get("setup"), outcomes.get("call")
    if setup in {"failed", "skipped"}:
        return _Probe(must_fail, held=False, why="what is done before each test of the project fails or skips it")
    if not must_fail:
        unrun = call == "passed" and record["here"] and not ran
        wrong = "a test of swarmgate's own was called passed without being run" if unrun else ""
        return _Probe(must_fail, held=call == "passed" and ran, wrong=wrong)
    if call == "failed" and ran:
        return _Probe(must_fail, held=True)
    if call == "failed" and not record["here"]:
        return _Probe(must_fail, held=False, why="its tests run in processes of which little is known")
    outcome = {"failed": "called failed without being run", None: "not run at all"}.get(call, f"called {call}")
    return _Probe(must_fail, held=False, wrong=f"a test of swarmgate's own that must fail was {outcome}")


# --- counts ---


def _tests(session: Session) -> Iterable[_Test]:
    found: dict[tuple[Any, ...], _Test] = {}
    elsewhere: dict[str, _Test] = {}
    """Run in a child of the runner's, which shows them."""
    for record in session.records:
        kind, name = record.get("kind"), str(record.get("name", ""))
        key = (record["process"], record.get("number", -1))
        if kind == "test":
            found.setdefault(key, _Test(name)).begin(record)
            elsewhere[name] = found[key]
        elif kind == "shown":
            displayed = found.get(key) or elsewhere.get(name) or found.setdefault((kind, name), _Test(name))
            displayed.displayed[record["when"]] = record["outcome"]
        elif kind in {"subtest", "file"}:
            found.setdefault((kind, name), _Test(name)).phases["call"] = record.get("outcome", "failed")
    return found.values()


def _counts(tests: Iterable[_Test], sessions: Sequence[Session], root: Path) -> Counts | None:
    if all(record["distributes"] for session in sessions for record in _of("start", session)):
        return None
    by_outcome: dict[str, list[str]] = {"passed": [], "skipped": [], "failed": []}
    for test in tests:
        by_outcome.get(test.outcome, by_outcome["failed"]).append(_named(root, test.name))
    failed = tuple(dict.fromkeys(by_outcome["failed"]))
    return Counts(
        passed=len(by_outcome["passed"]),
        failed=len(failed),
        skipped=len(by_outcome["skipped"]),
        failures=failed,
        names=(*by_outcome["passed"], *failed),
        skips=tuple(by_outcome["skipped"]),
    )


def _named(root: Path, node_id: str) -> str:
    """The name that a report would give: its class is the path with dots."""
    path, bracket, case = node_id.partition("[")
    names = path.split("::")
    names[0] = re.sub(r"\.py$", "", names[0].replace("/", "."))
    names[-1] += bracket + case
    return junit.named(root, ".".join(names[:-1]), names[-1])
