"""`swarm critique` over a scripted server: what is printed, exit codes, files, the cache, weights that are learnt."""

from __future__ import annotations

import json
import re
import shutil
import signal
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.project import Project, Rule, plain, rule, until

from swarmgate.council.critique.model import CritiqueRecord
from swarmgate.council.critique.steps import CRITIQUE
from swarmgate.council.shared import Shared
from swarmgate.engine import Swarm

GOLDEN = Path(__file__).parent / "golden" / "critique.txt"
TESTING = Path(__file__).parents[3] / "docs/testing.md"
EXAMPLE = Path(__file__).parents[3] / "examples/critique.toml"


def scored(*suggestions: str, **scores: float) -> dict[str, str]:
    listed = [{"criterion": name, "score": score, "reason": f"{name} so"} for name, score in scores.items()]
    return {"text": json.dumps({"scores": listed, "suggestions": suggestions})}


def marks(step: str, reply: dict[str, Any], number: int | None = None) -> Rule:
    return rule("participant", step, reply, **({"round": str(number)} if number else {}))


def making(*evaluations: dict[str, str]) -> list[Rule]:
    """Versions `version N`, judged one after the other; the last evaluation holds for all later ones."""
    rules = [marks("evaluate", each, number) for number, each in enumerate(evaluations, start=1)]
    texts = [marks("generate", {"text": "version 1"}), marks("improve", {"text": "version {{round}}"})]
    return [*texts, marks("evaluate", evaluations[-1]), *rules]


CRITERIA = ("--criterion", "truth=It is so.", "--criterion", "style:0.5:0.6=It reads well.")


@pytest.mark.slow
def test_the_best_version_goes_to_stdout_and_its_scores_to_stderr(project: Project, tmp_path: Path) -> None:
    project.play(
        *making(scored("shorter", truth=0.6, style=0.4), scored(truth=0.9, style=0.5), scored(truth=0.2, style=7))
    )
    out = tmp_path / "best.txt"
    done = project.swarm("critique", "Write it.", *CRITERIA, "--out", str(out), exits=1)
    assert (done.stdout, out.read_text()) == ("version 2\n", "version 2\n")
    assert "Best: iteration 2 of 3, mean 0.77 (+0.23)" in done.stderr
    assert "iteration 2 of at most 3" in plain(done.stderr)
    (row,) = Swarm(project.root).council.critiques()
    assert (row.status, row.task) == ("not passed", "Write it.")
    shown = project.swarm("critique", "show", row.id).stdout.replace(row.id, "ID")
    assert re.sub(r"[\d,]+ tokens, .*", "N tokens.", shown) == GOLDEN.read_text()
    told = project.json("critique", "show", row.id)
    assert (told.pop("id"), told["status"]) == (row.id, "complete")
    record = CritiqueRecord.model_validate(told)
    assert record == Swarm(project.root).council.critique_record(row.id)
    began = datetime.fromisoformat(row.began).strftime("%Y-%m-%d %H:%M:%S UTC")
    assert f"{row.id}  {began}  not passed  Write it." in project.swarm("critique", "list").stdout
    asked = len(project.requests)
    again = project.swarm("critique", "resume", row.id, exits=1)  # finished: given at once
    told = project.swarm("critique", "Write it.", *CRITERIA, exits=1)  # the same request: from its record
    assert (again.stdout, told.stdout, len(project.requests)) == ("version 2\n", "version 2\n", asked)
    assert f"answered from the record of {row.id}" in plain(told.stderr)
    refused = project.swarm("critique", "Write it.", *CRITERIA, "--out", str(out), exits=2)
    assert "is there already" in refused.stderr
    cached = [project.json("critique", "Write it.", *CRITERIA, exits=1)["cached"]]
    anew = ("--no-cache", "--out", str(out), "--force")
    cached.append(project.json("critique", "Write it.", *CRITERIA, *anew, exits=1)["cached"])
    assert cached == [True, False]
    assert len(project.requests) == 2 * asked
    near = project.swarm("critique", "show", row.id[:-1] + "x", exits=2).stderr
    assert "Did you mean" in near


def test_every_option_reaches_it(project: Project, tmp_path: Path) -> None:
    project.play(*making(scored(truth=0.7), scored(truth=0.95)))
    draft = tmp_path / "draft.py"
    draft.write_text("VALUE = 1\n")
    options = ["--draft", str(draft), "--out", str(draft), "--target", "src/calc/part.py", "--iterations", "4"]
    programs = ["--command", "grep -q version src/calc/part.py", "--command", "grep -q . AGENTS.md"]
    models = ["--model", "local/junior", "--evaluator", "local/senior", "--file", "AGENTS.md", "--timeout", "60"]
    told = project.json(
        "critique", "Write it.", "--criterion", "truth=x", *options, *programs, *models, "--stop", "0.9"
    )
    assert (told["best"], told["passed"], told["version"]) == (2, True, "version 2")
    first = told["evaluations"][0]["evaluation"]["scores"]
    assert [(each["criterion"], each["score"]) for each in first] == [("truth", 0.7), ("grep", 0.0), ("grep-2", 1.0)]
    assert {each.headers["STEP"]: each.body["model"] for each in project.requests} == {
        "evaluate": "senior",
        "improve": "junior",
    }
    assert draft.read_text() == "version 2\n"
    critique = Swarm(project.root).council.critique_record(told["id"]).critique
    assert (critique.timeout_s, "HOUSE-RULE" in critique.material, critique.draft) == (60, True, "VALUE = 1")


@pytest.mark.slow
def test_weights_are_learnt_from_past_runs_of_the_name_and_shown(project: Project) -> None:
    project.play(*making(scored(truth=0.9, style=0.1)))
    options = ["Write it.", *CRITERIA, "--name", "notes", "--iterations", "1"]
    project.swarm("critique", *options, exits=1)
    told = project.swarm("critique", *options, "--adaptive", exits=1)
    assert "weights learnt from 1 past run of notes: truth 1.00 -> 0.75, style 0.50 -> 0.75" in plain(told.stderr)
    assert "0.50 -> 0.75" in told.stderr
    other = project.json("critique", *CRITERIA, "Write it.", "--name", "other", "--adaptive", exits=1)
    none = plain(project.swarm("critique", *CRITERIA, "Do it.", "--name", "new", "--adaptive", exits=1).stderr)
    assert "no past runs of new: the weights are as given" in none
    assert (other["learnt_from"], other["given_weights"]) == (0, {"truth": 1.0, "style": 0.5})


def test_a_file_describes_all_of_it_and_options_win(project: Project, tmp_path: Path) -> None:
    project.play(*making(scored(accuracy=0.95, usefulness=0.9)))
    path = shutil.copy(EXAMPLE, tmp_path / "critique.toml")
    project.write("README.md", "# Calc\n")
    told = project.json("critique", str(path), "--stop", "0.5", "--tokens", "90000")
    assert (told["passed"], told["best"]) == (True, 1)
    record = Swarm(project.root).council.critique_record(told["id"])
    assert (record.critique.stop, record.critique.iterations, record.critique.name) == (0.5, 4, "changelog")
    assert record.iterations[0].evaluation
    assert record.iterations[0].evaluation.scores[2].score == 1.0
    assert Shared(Swarm(project.root).project).record(CRITIQUE, told["id"]).standing.allowance.tokens == 90_000


MISTAKES = (
    ("iterations = 4", "iterations = 11", "line 7: `iterations` is 11: the limit is 1 to 10"),
    ("iterations = 4", 'iterations = "4"', "line 7: `iterations`: must be a valid integer"),
    ("iterations = 4", "itrations = 4", "line 7: `itrations`: unknown key `itrations`; did you mean `iterations`?"),
    ("weight = 0.7", "weight = 7", "line 20: `criteria.2.weight` is 7.0: the limit is 0 to 1"),
    ("weight = 0.7", "wieght = 0.7", "line 20: `criteria.2.wieght`: unknown key `wieght`"),
    ('name = "usefulness"', 'name = "Accuracy"', "line 18: `criteria.2.name`: 'Accuracy' and 'accuracy' read as"),
    ("command = ", 'gate = "sintax_check"\n# ', "line 27: `criteria.3.gate`: there is no gate 'sintax_check'"),
    ('target = "NEWS.md"', "", "`target` is empty: length is judged by a command"),
    ("iterations = 4", "iterations = = 4", "is not valid TOML"),
)


def test_a_mistake_in_a_file_is_named_with_line_and_key(project: Project, tmp_path: Path) -> None:
    project.play()
    project.write("README.md", "# Calc\n")
    text, path = EXAMPLE.read_text(), tmp_path / "critique.toml"
    for old, new, told in MISTAKES:
        assert old in text
        path.write_text(text.replace(old, new))
        said = plain(project.swarm("critique", str(path), exits=2).stderr)
        assert (str(path) in said, told in said) == (True, True), f"{told}\n{said}"
    assert project.requests == []


BAD_INPUT: tuple[tuple[list[str], str], ...] = (
    (["--iterations", "0"], "--iterations is 0: the limit is 1 to 10"),
    (["--timeout", "901"], "--timeout is 901.0: the limit is 1 to 900 s -> Change --timeout, then try again; what"),
    (["--stop", "2"], "--stop is 2.0: the limit is 0 to 1"),
    (["--criterion", "truth"], "NAME=DESCRIPTION"),
    (["--gate", "lint_chek", "--target", "a.py"], "Did you mean lint_check?"),
    (["--gate", "lint_fix", "--target", "a.py"], "there is no gate 'lint_fix' that judges"),
    (["--command", "true"], "--target is empty"),
    (["--command", "true", "--target", "../a.py"], "leaves the repository"),
    (["--adaptive"], "--adaptive needs a --name"),
    (["--draft", "nowhere.md"], "nowhere.md cannot be read"),
    (["--out", "no/such/folder.md"], "there is no folder"),
    (["--evaluator", "nobody/x"], "--evaluator: unknown provider `nobody`"),
    (["--model", ""], "the value is empty"),
    (["--out", "HERE/.swarm/ledger.jsonl", "--force"], ".swarm/ledger.jsonl lies in .git or .swarm"),
    (["--out", "HERE/src/../.git/hooks/new"], ".git/hooks/new lies in .git or .swarm"),
    (["--out", "/dev/null", "--force"], "/dev/null is no regular file"),
    (["--out", "HERE/link/config", "--force"], "link/config lies in .git or .swarm"),
)


def test_bad_input_is_2_and_asks_nobody(project: Project) -> None:
    project.play()
    (project.root / "link").symlink_to(".git")
    for options, told in BAD_INPUT:
        given = [each.replace("HERE", str(project.root)) for each in options]
        said = plain(project.swarm("critique", "Write it.", *given, exits=2).stderr)
        assert told in said, f"{options}\n{said}"
    assert project.requests == []


@pytest.mark.slow
def test_what_cannot_be_judged_is_5_and_a_budget_is_4(project: Project) -> None:
    project.play(*making({"text": "I give it 9/10."}))
    told = project.json("critique", "Write it.", "--iterations", "1", exits=5)
    assert (told["error"], "no version was judged" in told["message"]) == ("COUNCIL_FAILED", True)
    (row,) = Swarm(project.root).council.critiques()
    assert (row.status, f"swarm critique show {row.id}" in told["hint"]) == ("failed", True)
    assert "It failed: no version was judged" in project.swarm("critique", "show", row.id).stdout
    project.play(*making(scored(truth=0.1, style=0.1)), marks("generate", {"text": " "}))
    told = project.json("critique", "Make it.", *CRITERIA, exits=5)
    assert "swarm critique resume" in told["hint"]
    project.play(*making(scored(truth=0.1, style=0.1)))
    told = project.json("critique", "Write that.", *CRITERIA, "--tokens", "900", exits=4)
    assert "swarm critique resume" in told["hint"]


def test_the_script_on_the_page_about_tests_is_played(project: Project) -> None:
    page = TESTING.read_text("utf-8").partition("## Voices of discussions, decisions and critiques")[2]
    project.play(*yaml.safe_load(page.partition("```yaml\n")[2].partition("```")[0])["rules"])
    assert project.swarm("critique", "Write it.").stdout == "Version 2.\n"
    assert "We do it." in project.swarm("decide", "Well?", "--strategy", "unanimous").stdout


@pytest.mark.slow
def test_ctrl_c_keeps_what_is_whole_and_resume_goes_on(project: Project) -> None:
    hang = marks("evaluate", {"fault": {"kind": "hang"}}, 2)
    project.play(*making(scored(truth=0.1, style=0.1)), hang)
    process = project.start("critique", "Write it.", *CRITERIA)
    until(lambda: len(project.requests) == 4)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=20)
    (row,) = Swarm(project.root).council.critiques()
    assert (process.returncode, row.status) == (130, "open")
    assert f"Go on with: swarm critique resume {row.id}" in told
    project.play(*making(scored(truth=0.9, style=0.9)))
    assert project.swarm("critique", "resume", row.id).stdout == "version 2\n"
    assert [each.headers["STEP"] for each in project.requests[4:]] == ["evaluate"]
