"""Every verb: help with an example, JSON only on stdout, any subfolder, exit codes, errors a user can act upon."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.project import GOAL, Project, call, event_lines, plan, review, rule
from typer.main import get_command
from typer.testing import CliRunner

from swarmgate import __version__
from swarmgate.cli.app import Verbs, app
from swarmgate.cli.verbs import VERBS as TABLE

pytestmark = pytest.mark.suite("unittest")

VERBS = [
    "init", "doctor", "agents", "demo", "docs", "plan", "run", "stop", "pr", "approve", "answer", "revise", "retry",
    "skip", "undo", "override", "abandon", "status", "top", "cost", "show", "history", "failures", "verify",
    "attest", "evidence", "drift", "handoff", "report", "gates", "sbom", "guard", "hook", "mcp", "lsp", "dispatch",
    "debate", "chat", "discuss", "decide", "critique", "orchestrate", "watch", "sync", "automation", "events", "hooks",
    "preflight", "serve", "server", "worker", "fleet", "metrics", "eval",
]  # fmt: skip
GATES = ["run", "list", "explain", "baseline", "doctor"]
LOOKING = ["status", "top", "history", "failures", "verify", "stop", "doctor"]


def swarm(*args: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """A process of its own: what the shell sees."""
    return subprocess.run(
        [sys.executable, "-m", "swarmgate", *args],
        cwd=cwd,
        env={**os.environ, **environ},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def test_these_are_the_verbs() -> None:
    group = get_command(app)
    assert isinstance(group, Verbs)
    assert group.list_commands(None) == VERBS
    assert group.get_command(None, "terminal") is None


def test_the_line_of_every_verb_is_the_first_of_its_help() -> None:
    group = get_command(app)
    assert isinstance(group, Verbs)
    unlimited = 10_000
    helps = {verb: group.get_command(None, verb).get_short_help_str(unlimited) for verb in VERBS}
    assert helps == {name: verb.line for name, verb in TABLE.items()}


@pytest.mark.parametrize("width", [80, 200])
def test_help_has_every_verb_under_its_heading_with_a_whole_sentence_on_one_line(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    _, *groups = re.split(r"^(\w+):\n", CliRunner().invoke(app, ["--help"]).stdout, flags=re.MULTILINE)
    shown = dict(zip(groups[::2], groups[1::2], strict=True))
    assert list(shown) == ["Options", *dict.fromkeys(verb.group for verb in TABLE.values())]
    for heading, text in shown.items():
        expected = {name: verb.line for name, verb in TABLE.items() if verb.group == heading}
        if expected:
            assert dict(line.split(maxsplit=1) for line in text.splitlines() if line) == expected
            assert all(line.endswith(".") and "..." not in line for line in expected.values())
    assert sum(len(line) > 80 for text in shown.values() for line in text.splitlines()) == 0


def test_in_a_narrow_window_help_wraps_and_cuts_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "50")
    words = " ".join(CliRunner().invoke(app, ["--help"]).stdout.split())
    assert [name for name, verb in TABLE.items() if f" {name} {verb.line}" not in words] == []


def groups() -> dict[str, Any]:
    """The verbs that have verbs below them."""
    root: Any = get_command(app)
    found = {name: root.get_command(None, name) for name in VERBS}
    return {name: verb for name, verb in found.items() if hasattr(verb, "list_commands")}


def test_help_of_verbs_below_a_verb_cuts_nothing_either(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert {"gates", "debate", "watch"} < groups().keys()
    for name, group in groups().items():
        shown = "".join(CliRunner().invoke(app, [name, "--help"]).stdout.split())  # a line may end at a hyphen
        for below in group.list_commands(None):
            sentence = group.get_command(None, below).get_short_help_str(1000)
            assert "".join([below, *sentence.split()]) in shown, f"{name} {below}"


def options(command: Any) -> Iterator[Any]:
    """The parameters of a verb and of those below it."""
    yield from command.params
    for name in command.list_commands(None) if hasattr(command, "list_commands") else ():
        yield from options(command.get_command(None, name))


@pytest.mark.parametrize("name", ["--reason", "--note", "--repo", "--stash", "--phase", "--tokens", "--timeout"])
def test_the_value_of_an_option_has_one_name_in_the_help_of_all_verbs(name: str) -> None:
    assert len({each.metavar for each in options(get_command(app)) if name in each.opts}) == 1


def test_what_may_be_left_out_is_told_by_one_pair_of_brackets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    for verb, usage in (("answer", "[ID] [TEXT]"), ("history", "[TASK]"), ("plan", "[GOAL]")):
        assert f"{verb} [OPTIONS] {usage}\n" in CliRunner().invoke(app, [verb, "--help"]).stdout


# --- completion ---


def completed(*words: str) -> list[str]:
    """What a bash that sourced our script offers for the last word, and nothing else that it prints."""
    quoted = " ".join(shlex.quote(word) for word in words)
    program = f"""
    eval "$(swarm --show-completion bash)"
    COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}
    _swarm_completion swarm
    complete -p swarm > /dev/null || exit 1
    printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    environ = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "--norc", "-c", program], env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.split()


def test_a_shell_completes_verbs() -> None:
    assert completed("swarm", "st") == ["stop", "status"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (["swarm", ""], VERBS),
        (["swarm", "--v"], ["--version"]),
        (["swarm", "gates", "ba"], ["baseline"]),
        (["swarm", "run", "--wa"], ["--wait"]),
        (["swarm", "debate", "sh"], ["show"]),
        (["swarm", "debate", "sho", "--rou"], ["--rounds"]),
        (
            ["swarm", "docs", "gates/s"],
            [f"gates/{name}" for name in ("sast_scan", "sbom_generate", "speed", "syntax_check")],
        ),
        (["swarm", "frobnicate", "x"], []),
    ],
)
def test_a_shell_completes_what_stands_below_a_verb_and_its_options(words: list[str], offered: list[str]) -> None:
    assert completed(*words) == offered


def test_completing_verbs_loads_none_of_them() -> None:
    program = """
import sys
from swarmgate.cli.app import app
try:
    app(prog_name="swarm")
except SystemExit:
    pass
doors = ("work", "views", "checks", "background", "council")
sys.exit(" ".join(name for name in sys.modules if name.split(".")[2:3] and name.split(".")[2] in doors) or 0)
"""
    environ = {**os.environ, "_SWARM_COMPLETE": "complete_bash", "COMP_WORDS": "swarm ", "COMP_CWORD": "1"}
    done = subprocess.run([sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr, done.stdout.split()) == (0, "", VERBS)


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_there_is_a_script_for_other_shells_too(shell: str) -> None:
    shown = CliRunner().invoke(app, ["--show-completion", shell])
    assert (shown.exit_code, shown.stderr) == (0, "")
    assert f"_SWARM_COMPLETE=complete_{shell}" in shown.stdout
    refused = CliRunner().invoke(app, ["--show-completion", f"{shell}x"])
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "bash, zsh, fish" in refused.stderr


COUNCIL = ("debate", "chat", "discuss", "decide", "critique", "orchestrate")
NESTED = (
    "evidence show", "evidence prune",
    *(f"gates {name}" for name in GATES), "eval gates", "eval list", "guard explain", "dispatch show", "dispatch list",
    "watch stop", "watch status", "agents list", "agents test",
    "eval alone", "eval debate", "eval patches",
    *(f"{verb} {name}" for verb in COUNCIL for name in ("hold", "resume", "show", "list")),
)  # fmt: skip


GROUPS = {"gates", "eval", "guard", "agents", "server", "fleet", "attest", "hook"}
"""Verbs that are nothing without one below them."""
PROTOCOLS = {"mcp", "lsp"}
"""Verbs whose output is a protocol's."""


@pytest.mark.slow
@pytest.mark.parametrize("verb", [*VERBS, *NESTED])
def test_every_verb_has_help_with_an_example(verb: str) -> None:
    result = CliRunner().invoke(app, [*verb.split(), "--help"])
    assert result.exit_code == 0
    assert "--json" in result.stdout or verb in GROUPS | PROTOCOLS
    assert "Example: " in result.stdout or verb in GROUPS
    assert CliRunner().invoke(app, [*verb.split(), "-h"]).stdout == result.stdout


def test_version() -> None:
    assert CliRunner().invoke(app, ["--version"]).stdout == f"swarmgate {__version__}\n"


def test_help_loads_nothing_heavy() -> None:
    heavy = (
        "openai",
        "git",
        "detect_secrets",
        "yaml",
        "jinja2",
        "pydantic_settings",
        "rich",
        "pydantic",
        "swarmgate.config",
    )
    program = f"""
import sys
from swarmgate.cli.app import app
try:
    app(["--help"])
except SystemExit:
    pass
sys.exit(" ".join(name for name in {heavy!r} if name in sys.modules) or 0)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.slow
@pytest.mark.parametrize("verb", LOOKING)
def test_looking_verbs_print_json_only(project: Project, verb: str) -> None:
    project.planned(review("REJECTED", "no", attempt="1"))
    project.swarm("run", exits=3)
    json.loads(project.swarm(verb, "--json").stdout)
    assert project.swarm(verb).stdout


@pytest.mark.slow
def test_working_verbs_print_json_on_stdout_and_json_lines_on_stderr(project: Project) -> None:
    project.play()
    planned = project.swarm("plan", GOAL, "--json", exits=3)
    assert json.loads(planned.stdout)["waiting"] == "plan_approval"
    assert json.loads(project.swarm("approve", "--json").stdout) == {
        "approved": ["the plan"],
        "actions": ["swarm run: go on with the work"],
    }
    ran = project.swarm("run", "--json", exits=3)
    assert json.loads(ran.stdout)["waiting"] == "phase_approval"
    lines = event_lines(ran.stderr)
    assert {line["kind"] for line in lines} >= {"step", "event", "tool", "gate"}
    assert any(line["task"] == "1.1" and line["attempt"] == 1 and line["usage"]["calls"] for line in lines)
    assert json.loads(project.swarm("show", "1.1", "--json").stdout)["status"] == "complete"


@pytest.mark.slow
def test_progress_tells_people_what_goes_on(project: Project) -> None:
    project.planned(review("REJECTED", "no unit", attempt="1"))
    told = project.swarm("run", exits=3).stderr
    for words in (
        "task 1.1, attempt 1 (coder)",
        "REJECTED (reviewer) - no unit",
        "tests: 1 passed",
        "task 1.1 complete",
    ):
        assert words in told


@pytest.mark.slow
def test_progress_tells_which_tool_call_was_refused(project: Project) -> None:
    sly = [call("write_file", path=".swarm/plan.json", content="{}"), call("finish", summary="x")]
    project.planned(rule("coder", "code", sly), loop={"max_rejections": 1})
    told = project.swarm("run", exits=1).stderr
    (line,) = [line for line in told.splitlines() if "coder: write_file" in line]
    assert "write_file .swarm/plan.json Error: " in line
    assert "`.swarm` belongs to swarmgate" in line


@pytest.mark.parametrize(
    ("args", "told"),
    [
        ("show", "Missing argument 'TASK'"),
        ("run --fast", "No such option: --fast"),
        ("frobnicate", "No such command 'frobnicate'"),
        ("gates frobnicate", "No such command 'frobnicate'"),
        ("skip 1.1", "Missing option '--reason'"),
        ("run --until never", "'--until': 'never' is not one of"),
    ],
)
def test_wrong_usage_is_json_in_json_mode(project: Project, args: str, told: str) -> None:
    words = [*args.split(), "--json"]
    result = CliRunner().invoke(app, words)
    assert (result.exit_code, result.stderr) == (2, "")
    error = json.loads(result.stdout)
    assert (error["error"], error["exit_code"]) == ("USAGE", 2)
    assert told in error["message"]
    people = CliRunner().invoke(app, words[:-1])
    assert (people.exit_code, people.stdout) == (2, "")
    assert told in people.stderr
    assert error["hint"] in people.stderr
    if args == "show":  # as the shell has it: the arguments come from sys.argv
        done = swarm(*words, cwd=project.root)
        assert (done.returncode, done.stderr) == (2, "")
        assert json.loads(done.stdout) == {**error, "hint": "Try 'swarm show -h' for help."}


@pytest.mark.parametrize("verb", ["run", "status", "show 9.9", "plan", "revise more", "skip 9.9 --reason x"])
def test_errors_are_json_in_json_mode(project: Project, verb: str) -> None:
    project.play()
    project.folder.config.write_text("budgte = 1\n")
    exits = 0 if verb == "status" else 2
    told = project.json(*verb.split(), exits=exits)
    if exits:
        assert told["exit_code"] == 2
        assert told["message"]


def test_an_unknown_key_is_named_with_its_file_and_the_nearest(project: Project) -> None:
    project.play()
    project.folder.config.write_text(project.folder.config.read_text() + "\n[budgte]\nusd = 1\n")
    told = project.swarm("plan", GOAL, exits=2).stderr
    assert "`budgte`" in told
    assert "did you mean `budget`?" in told
    assert str(project.folder.config) in told


ELSEWHERE = {"SWARM_NODE_ID": "7", "SWARM_BUDGT__USD": "3"}
MEANT = "environment variable SWARM_BUDGT__USD is no setting and is ignored; did you mean SWARM_BUDGET__USD?"


def test_a_variable_of_another_program_is_told_of_once(project: Project) -> None:
    told = swarm("automation", cwd=project.root, **ELSEWHERE, PYTHONWARNINGS="error")
    assert told.returncode == 0, told.stderr
    assert told.stderr.splitlines() == [
        f"swarm: {MEANT}",
        "swarm: environment variable SWARM_NODE_ID is no setting and is ignored",
    ]
    assert MEANT not in told.stdout
    as_json = swarm("automation", "--json", cwd=project.root, **ELSEWHERE)
    assert json.loads(as_json.stdout)
    assert next(line["text"] for line in event_lines(as_json.stderr)) == MEANT


@pytest.mark.slow
def test_the_doctor_lists_variables_of_other_programs(project: Project) -> None:
    project.play()
    checks = json.loads(swarm("doctor", "--json", cwd=project.root, **ELSEWHERE).stdout)["checks"]
    assert MEANT in next(each for each in checks if each["name"] == "variables")["warnings"]


def test_broken_settings_are_named_with_their_line(project: Project) -> None:
    project.folder.config.write_text("[tests\n")
    told = project.swarm("plan", GOAL, exits=2).stderr
    assert "config.toml is not valid TOML" in told
    assert "line 1" in told


@pytest.mark.slow
def test_any_subfolder_and_repo_lead_to_the_same_project(project: Project, tmp_path: Path) -> None:
    project.planned()
    below = swarm("status", cwd=project.root / "src/calc")
    elsewhere = swarm("status", "--repo", str(project.root / "tests"), cwd=tmp_path)
    assert below.stdout == elsewhere.stdout == project.swarm("status").stdout


# --- one process for each exit code ---


@pytest.mark.slow
def test_exit_codes_of_a_real_process(project: Project) -> None:
    assert swarm("status", cwd=project.root).returncode == 0
    assert swarm("run", cwd=project.root).returncode == 2
    project.play()
    assert swarm("plan", GOAL, cwd=project.root).returncode == 3
    project.swarm("approve")
    project.configure(budget={"tokens": 1})
    assert swarm("run", cwd=project.root).returncode == 4
    project.configure(providers__local={"base_url": "http://127.0.0.1:9/v1", "max_retries": 0})
    down = swarm("run", cwd=project.root)
    assert down.returncode == 5
    assert "is the endpoint running?" in down.stderr
    project.configure(providers__local={"api_key_env": "NOT_SET"})
    assert swarm("run", cwd=project.root).returncode == 6
    project.play(review("REJECTED", "no"), loop={"max_rejections": 1})
    assert swarm("run", cwd=project.root).returncode == 1
    assert "Traceback" not in down.stderr + down.stdout


@pytest.mark.slow
def test_a_reader_that_goes_away_is_no_error(project: Project) -> None:
    project.planned()
    line = f"{sys.executable} -m swarmgate history | head -n 1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], cwd=project.root, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "Error" not in done.stderr


@pytest.mark.slow
def test_no_color_is_respected(project: Project) -> None:
    project.play()
    done = swarm("plan", GOAL, cwd=project.root, NO_COLOR="1", FORCE_COLOR="")
    assert "\x1b[" not in done.stderr + done.stdout


# --- places where there is no project ---


def test_outside_of_git(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["status", "--repo", str(tmp_path)])
    assert done.exit_code == 2
    assert "make one here: swarm init --commit" in done.stderr


def test_a_repository_without_swarm(repo: Path) -> None:
    done = CliRunner().invoke(app, ["run", "--repo", str(repo)])
    assert done.exit_code == 2
    assert "swarm init" in done.stderr


def test_swarm_as_a_link_is_refused(project: Project, tmp_path: Path) -> None:
    project.folder.path.rename(tmp_path / "elsewhere")
    project.folder.path.symlink_to(tmp_path / "elsewhere")
    for verb in ("status", "init", "verify"):
        assert "symbolic link" in project.swarm(verb, exits=2).stderr


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["status", "--repo", str(tmp_path / "nowhere")])
    assert done.exit_code == 2
    assert f"There is no folder {tmp_path / 'nowhere'}" in done.stderr


@pytest.mark.slow
def test_questions_are_asked_on_a_terminal(project: Project) -> None:
    import pty

    project.play(
        rule("architect", "plan", [call("ask_user", questions=["Which unit?"])]), plan("1.1", contains="IN-METRES")
    )
    leader, follower = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "swarmgate", "plan", GOAL],
        cwd=project.root,
        stdin=follower,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    project.processes.append(process)
    os.write(leader, b"IN-METRES\n")
    out, err = process.communicate(timeout=30)
    os.close(leader)
    os.close(follower)
    assert "1. Which unit?" in err
    assert process.returncode == 3
    assert "The plan waits for your approval" in out
