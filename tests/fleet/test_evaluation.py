"""Evaluations that workers do: their reports are those of one machine, nothing is asked twice, no case is dropped."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.evaluation.debate.simulated import JudgesServer, items, judges
from tests.fleet.machines import Machines
from tests.fleet.remote import Remote

from swarmgate.domain.usage import Allowance
from swarmgate.errors import QueueAway, UsageError
from swarmgate.evaluation.debate import fixtures as fixture_files
from swarmgate.evaluation.debate.harness import evaluate, setup_of
from swarmgate.evaluation.patches import measure
from swarmgate.evaluation.patches.arms import Arm
from swarmgate.evaluation.patches.dataset import AgentPatch, load
from swarmgate.evaluation.patches.rows import Row
from swarmgate.fleet import errands
from swarmgate.fleet import evaluation as spread
from swarmgate.fleet.errands import Asked, Errand
from swarmgate.fleet.facade import Fleet
from swarmgate.fleet.goals.goal import Goal
from swarmgate.fleet.work.errand import Answer

pytestmark = pytest.mark.suite("unittest")

LIB = "def double(number: int) -> int:\n    return number + number\n"
_OF_TIMES = {"seconds", "prepared"}


def patch(name: str, base: str, line: str, label: str, repo: str = "o/r") -> dict[str, str]:
    kept, gone = LIB.splitlines()
    diff = f"--- a/lib.py\n+++ b/lib.py\n@@ -1,2 +1,2 @@\n {kept}\n-{gone}\n+{line}\n"
    return {"id": name, "repo": repo, "base": base, "patch": diff, "label": label}


def written(folder: Path, git: Callable[..., str]) -> Path:
    """Three patches, and one clone below the folder: that of the third is missing."""
    clone = folder / "clones" / "o__r"
    clone.mkdir(parents=True)
    git(clone, "init", "--quiet")
    (clone / "lib.py").write_text(LIB)
    git(clone, "add", ".")
    git(clone, "commit", "--quiet", "-m", "base")
    base = git(clone, "rev-parse", "HEAD").strip()
    rows = (
        patch("a-1", base, "    return 2 * number", "right"),
        patch("a-2", base, "    return 2 * nunber", "wrong"),
        patch("a-3", base, "    return 2 * number", "right", repo="o/other"),
    )
    data = folder / "patches.jsonl"
    data.write_text("\n".join(map(json.dumps, rows)))
    return data


def told(machines: Machines, *args: str) -> tuple[int, dict[str, Any]]:
    process = machines.remote.project.start("eval", *args, "--fleet", "--json")
    out, _ = process.communicate(timeout=200)
    return process.returncode, json.loads(out)


@pytest.mark.slow
def test_patches_are_replayed_by_workers_as_by_one_machine(
    machines: Machines, tmp_path: Path, git: Callable[..., str]
) -> None:
    data, out = written(tmp_path, git), tmp_path / "out"
    machines.configure(clones=str(tmp_path / "clones"))
    command = ("patches", str(data), "--out", str(out))
    code, early = told(machines, *command, "--wait", "0")
    assert code == 5
    assert [row["id"] for row in early["rows"]] == ["a-1", "a-2", "a-3"]
    assert all("none came in time" in row["trouble"] for row in early["rows"])
    asked = machines.remote.summaries().keys()
    machines.start()
    machines.start()
    code, found = told(machines, *command, "--wait", "100")
    rows = {row["id"]: row for row in found["rows"]}
    assert code == 5, "one has no verdict"
    assert machines.remote.summaries().keys() == asked, "nothing was asked twice"
    assert rows["a-3"]["trouble"].startswith("no answer of calc:g-")
    assert "holds no clone of o/other" in rows["a-3"]["trouble"]
    alone = measure.measure(
        load(data)[:2],
        tmp_path / "clones",
        [Arm.GATES],
        config=measure.settings(machines.remote.project.root),
        out=tmp_path / "alone",
    )
    for row in alone.rows:
        same = row.model_dump(mode="json", exclude=_OF_TIMES)
        assert {key: value for key, value in rows[row.id].items() if key not in _OF_TIMES} == same
    assert len(list((out / "rows").iterdir())) == 2, "what was judged is kept here, too"


@pytest.mark.slow
def test_debates_are_judged_by_workers_as_by_one_machine(machines: Machines, tmp_path: Path) -> None:
    fixtures = tmp_path / "items.jsonl"
    fixtures.write_text("\n".join(item.model_dump_json() for item in items(2)))
    with JudgesServer(judges(1.0, 0.5)) as server:
        machines.configure(providers__l={"base_url": server.base_url})
        machines.start()
        machines.start()
        numbers = {"rounds": 1, "participants": 2, "repeats": 1, "seed": 0, "limit": None}
        setup = setup_of("l/a", "parallel,debate", **numbers)
        options = ("--models", "l/a", "--arms", "parallel,debate", "--rounds", "1", "--participants", "2")
        command = ("debate", "--fixtures", str(fixtures), *options, "--repeats", "1", "--out", str(tmp_path / "out"))
        code, found = told(machines, *command)
        assert (code, found["partial"], found["done"], found["asked"]) == (0, "", 2, 8)
        calls = len(server.requests)
        again = spread.debate(machines.fleet, fixtures, wait_s=60, tell=lambda _: None)
        run, asked = again(fixture_files.load(fixtures), setup, Allowance())
        assert (run.done, asked, len(server.requests)) == (2, 0, calls), "what is answered is asked no model again"
        alone = evaluate(fixtures, setup, start=machines.remote.project.root, out=tmp_path / "alone")
    plain = [{**each, "seconds": 0, "wait": 0, "usage": 0} for each in alone.model_dump(mode="json")["judgements"]]
    assert [{**each, "seconds": 0, "wait": 0, "usage": 0} for each in found["judgements"]] == plain
    assert [each["accuracy"] for each in found["arms"]] == [each.accuracy for each in alone.arms]


@pytest.mark.slow
def test_an_errand_that_failed_is_asked_once_more_by_who_comes_again(machines: Machines) -> None:
    wanted = [Errand(("eval", "patches", "no-such-file", "--repos", "@clones"))]
    (first,) = errands.ask(machines.fleet, wanted)
    machines.remote.advance(first.goal)
    ((_, answer),) = errands.answers(machines.fleet, [first], wait_s=60)
    assert answer.exit_code == 2
    assert "set [fleet] clones" in answer.stderr
    (second,) = errands.ask(machines.fleet, wanted)
    assert second.goal == Goal("calc", wanted[0].id(1))
    assert errands.ask(machines.fleet, wanted) == [second]


def test_an_errand_is_called_by_what_it_is() -> None:
    first = Errand(("eval", "gates"), (("a", b"1"),), "settings")
    assert first.id(0) == Errand(("eval", "gates"), (("a", b"1"),), "settings").id(0)
    others = (Errand(("eval", "gates"), (("a", b"2"),), "settings"), Errand(("eval", "gates"), (("a", b"1"),), "else"))
    ids = {first.id(0), first.id(1), *(each.id(0) for each in others)}
    assert len(ids) == 4
    assert all(Goal.known("calc", each) for each in ids)


def test_a_row_of_a_worker_that_judges_otherwise_does_not_count() -> None:
    given = AgentPatch.model_validate(patch("a-1", "1" * 40, "    return 1", "right"))
    job = measure.Job(given, Arm.GATES, None, "the key here", {})
    asked = Asked(Errand(("eval",)), Goal("calc", "g-0123456789ab"))
    row = job.untried("").model_copy(update={"blocked": "gates: imports"})

    def row_of(**answer: Any) -> Row:
        (found,) = spread.rows_of([job], asked, Answer(worker="w1", **answer))
        return found

    assert row_of(exit_code=0, stdout=json.dumps({"rows": [row.model_dump(mode="json")]})) == row
    other = row.model_copy(update={"key": "another key"})
    told = row_of(exit_code=0, stdout=json.dumps({"rows": [other.model_dump(mode="json")]}))
    assert (told.blocked, told.key) == ("", "the key here")
    assert "w1 judges by other settings, or is of another version" in told.trouble
    assert "another version does" in row_of(exit_code=0, stdout='{"rows": [{"id": 1}]}').trouble
    assert "w1 failed: exit code 70" in row_of(exit_code=70, stdout="cut off").trouble
    assert "w1 failed: no such file" in row_of(exit_code=2, stdout='{"message": "no such file"}').trouble


def test_without_a_database_nothing_is_asked(remote: Remote) -> None:
    repository = {"remote": str(remote.path), "base": "main"}
    settings = {"home": str(remote.home), "repositories": {"calc": repository}}
    wanted = [Errand(("eval", "gates"))]
    with pytest.raises(UsageError, match="no database of a fleet"):
        errands.ask(Fleet(remote.project.root, flags={"fleet": settings}), wanted)
    away = {**settings, "database": f"host={remote.home} dbname=x"}
    with pytest.raises(QueueAway):
        errands.ask(Fleet(remote.project.root, flags={"fleet": away}), wanted)
    assert remote.summaries() == {}


def test_clones_are_of_this_machine_or_of_workers(remote: Remote) -> None:
    for options in ((), ("--fleet", "--repos", "x"), ("--fleet", "--jobs", "2")):
        refused = remote.project.swarm("eval", "patches", "data.jsonl", *options, exits=2)
        assert "[fleet] clones" in refused.stderr
    refused = remote.project.swarm(
        "eval", "debate", "--fixtures", "x", "--models", "l/a", "--fleet", "--part", "1/2", exits=2
    )
    assert "--part" in refused.stderr
