"""`swarm dispatch` as a user types it: exit codes, what is printed, and the record."""

from __future__ import annotations

import json
import shutil
import signal
from pathlib import Path

import pytest
from tests.council.dispatch.test_facade import DOWN, says
from tests.project import Project, event_lines, plain, rule, until

EXAMPLE = Path(__file__).parents[3] / "examples/dispatch.toml"


@pytest.fixture
def file(project: Project) -> Path:
    path = project.root.parent / "tasks.toml"
    path.write_text("".join(f'[[tasks]]\nparticipant = "{name}"\ntext = "Ask {name}."\n' for name in "ab"))
    return path


def test_what_the_voices_say_is_printed_in_order_and_shown_again(project: Project, file: Path) -> None:
    project.play(says("a", "Alpha."), says("b", "Beta."))
    told = project.swarm("dispatch", "--mode", "parallel", str(file))
    assert ": parallel, 2/2 succeeded (" in told.stdout
    assert told.stdout.index("[1] a (local/senior, ") < told.stdout.index("Alpha.") < told.stdout.index("Beta.")
    assert "task 1, a answered" in plain(told.stderr)
    [dispatch_id] = [row["id"] for row in project.json("dispatch", "list")]
    shown = project.swarm("dispatch", "show", dispatch_id).stdout
    assert f"Dispatch {dispatch_id}: parallel, 2/2 succeeded" in shown
    assert "> Ask a.\nAlpha." in shown
    assert json.loads(project.swarm("dispatch", "--json", "show", dispatch_id).stdout)["id"] == dispatch_id


def test_options_may_stand_behind_the_file_and_json_is_json(project: Project, file: Path) -> None:
    project.play(says("a", "Alpha."), says("b", DOWN))
    told = project.swarm("dispatch", str(file), "--mode", "chain", "--json", exits=1)
    found = json.loads(told.stdout)
    assert (found["mode"], found["succeeded"], found["summary"]) == ("chain", 1, "1/2 succeeded")
    assert [bool(reply["failed"]) for reply in found["replies"]] == [False, True]
    assert all(line["kind"] for line in event_lines(told.stderr))
    assert project.json("dispatch", "show", found["id"]) == found


@pytest.mark.slow
def test_exit_codes_tell_what_became_of_the_tasks(project: Project, file: Path) -> None:
    project.play(says("a", "Alpha."), says("b", DOWN))
    told = project.swarm("dispatch", "--mode", "parallel", str(file), exits=1).stdout
    assert "1/2 succeeded" in told
    assert "FAILED 2 times: " in told
    project.play(says("a", DOWN), says("b", DOWN))
    failed = project.swarm("dispatch", "--mode", "parallel", str(file), exits=5)
    assert failed.stdout == ""
    assert "0/2 succeeded: task 1 (a): " in failed.stderr
    project.play(says("a", "Alpha."), says("b", "Beta."), council={"total_tokens": 1})
    spent = project.swarm("dispatch", "--mode", "chain", str(file), exits=4).stdout
    assert "It ended early: the budget of " in spent
    assert "Not run: the budget of " in spent
    project.play(says("a", "Alpha."), council={"usd": 0})
    assert project.json("dispatch", "--mode", "parallel", str(file), exits=4)["error"] == "BUDGET"


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--mode", "paralel", "tasks.toml"), "unknown mode 'paralel'; did you mean `parallel`?"),
        (
            ("--mode", "single", "tasks.toml"),
            "tasks.toml, line 1: there are 2 tasks: mode single takes exactly one task",
        ),
        (("--mode", "chain", "--rounds", "2", "tasks.toml"), "`rounds` is legal with mode debate only"),
        (("--mode", "debate", "--rounds", "6", "tasks.toml"), "`rounds` is 6: a debate has 1 to 5 rounds"),
        (("--mode", "chain", "nothing.toml"), "nothing.toml cannot be read"),
        (("--mode", "chain"), "no file of tasks is given"),
        (("--mode", "chain", ""), "no file of tasks is given"),
        (("show", "20261121-224500-3f2a"), "There is no dispatch '20261121-224500-3f2a'."),
    ],
)
def test_wrong_usage_is_exit_code_2_and_says_what_is_wrong(
    project: Project, file: Path, monkeypatch: pytest.MonkeyPatch, args: tuple[str, ...], told: str
) -> None:
    project.play()
    monkeypatch.chdir(file.parent)
    assert told in project.swarm("dispatch", *args, exits=2).stderr
    assert project.json("dispatch", *args, exits=2)["exit_code"] == 2
    assert project.requests == []


@pytest.mark.slow
@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_stop_is_exit_code_130_and_what_was_answered_is_on_record(
    project: Project, file: Path, sent: signal.Signals
) -> None:
    project.play(says("a", "Alpha."), says("b", {"fault": {"kind": "hang"}}))
    process = project.start("dispatch", "--mode", "chain", str(file))
    until(lambda: len(project.requests) == 2)
    process.send_signal(sent)
    _, told = process.communicate(timeout=20)
    assert process.returncode == 130, told
    assert "stopped at once" in told
    [dispatch_id] = [row["id"] for row in project.json("dispatch", "list")]
    shown = project.swarm("dispatch", "show", dispatch_id).stdout
    assert "Alpha." in shown
    assert "It is going on, or was ended before it was done." in shown


def test_a_file_may_be_called_as_one_likes_but_for_the_verbs(
    project: Project, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.play(says("a", "Alpha."), says("b", "Beta."))
    monkeypatch.chdir(file.parent)
    shutil.copy(file, file.parent / "show")
    assert "2/2 succeeded" in project.swarm("dispatch", "--mode", "parallel", "./show").stdout


def test_the_example_runs(project: Project) -> None:
    project.play(rule("participant", "dispatch", {"text": "{{participant}} has looked."}))
    told = project.json("dispatch", str(EXAMPLE))
    assert [reply["text"] for reply in told["replies"]] == [
        f"{name} has looked." for name in ("architect", "critic", "operator")
    ]
