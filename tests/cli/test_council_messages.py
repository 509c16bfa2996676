"""Tests the error messages of the council's verbs: the mistake, its place, and what to do next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.council.debate_script import ballot, debating, speech, synthesis
from tests.council.dispatch.test_facade import DOWN, says
from tests.project import Project, event_lines, plain, rule

from swarmgate.engine import Swarm

BIDI = "\u202e\u2066\x1b[31m"


def only_debate(project: Project) -> str:
    (found,) = Swarm(project.root).council.ids()
    return found


# --- what is not meant as a debate ---


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--json",), ("--rounds", "2")])
def test_a_word_that_is_nearly_a_verb_is_no_question(project: Project, options: tuple[str, ...]) -> None:
    project.play(*debating())
    told = project.swarm("debate", *options, "lst", exits=2)
    said = " ".join(plain(told.stdout + told.stderr).replace("\u2502", " ").split())
    assert "did you mean `list`?" in said
    assert "for a question of one word: " in said
    assert project.requests == []
    project.swarm("debate", "hold", "lst")


@pytest.mark.parametrize("verb", ["dispatch", "chat"])
def test_that_holds_for_the_other_verbs_too(project: Project, verb: str) -> None:
    told = project.json(verb, "shw", exits=2)
    assert "did you mean `show`?" in told["message"]


def test_a_path_is_no_question(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.play(*debating())
    monkeypatch.chdir(project.root)
    assert "is a folder, and no question" in project.swarm("debate", str(project.root), exits=2).stderr
    told = project.swarm("debate", "AGENTS.md", exits=2).stderr
    assert "--file AGENTS.md" in told
    assert project.requests == []
    project.swarm("debate", "Well? " * 200)


def test_an_empty_variable_is_no_model(project: Project) -> None:
    project.play(*debating())
    for options in (["--participant", "a=", "--participant", "b"], ["--moderator", "chair="]):
        assert "names no model behind `=`" in project.swarm("debate", "Well?", *options, exits=2).stderr
    assert project.requests == []


def test_a_voice_is_named_as_the_user_named_it(project: Project) -> None:
    project.play(*debating())
    said = project.swarm("debate", "Well?", "--participant", "a", exits=2).stderr
    assert "there is 1 participant: a debate has 2 to 8" in said
    assert "--participant ID[=MODEL]" in said
    assert "`participants[0].id`" in project.swarm("debate", "Well?", "--participant", "a b", exits=2).stderr
    wrong = ("--participant", "a", "--participant", "b=loca/x")
    assert "b: unknown provider `loca`; did you mean `local`?" in project.swarm("debate", "?", *wrong, exits=2).stderr


# --- files ---


@pytest.mark.slow
def test_a_file_is_found_from_here_from_the_root_and_by_its_whole_path(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.play(*debating())
    project.write("docs/deep/plan.md", "PLAN-TEXT\n")
    monkeypatch.chdir(project.root / "docs")
    for path in ("deep/plan.md", "docs/deep/plan.md", str(project.root / "docs/deep/plan.md"), "../docs/deep/plan.md"):
        told = project.json("debate", "Well?", "--file", path)
        assert "### docs/deep/plan.md\nPLAN-TEXT" in Swarm(project.root).council.record(told["id"]).debate.material


def test_a_file_that_is_not_there_is_told_to_a_user(project: Project) -> None:
    project.play(*debating())
    said = project.swarm("debate", "Well?", "--file", "nofile.md", exits=2).stderr
    assert "There is no file 'nofile.md' in the repository." in said
    assert "list_files" not in said
    assert project.swarm("debate", "Well?", "--file", "/etc/passwd", exits=2).stderr


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('participants = ["a", "b=loca/x"]\n', "line 2: `participants.2.model`: b: unknown provider `loca`"),
        ('participants = ["a", "b="]\n', "line 2: `participants.2`: 'b=' names no model"),
        ('participants = ["a", 7]\n', "line 2: `participants.2`: must be a table with `id`, or a text"),
        ('files = ["AGENTS.md", "no.md"]\n', "line 2: `files.2`: There is no file 'no.md'"),
        (
            '[[participants]]\nid = "a"\n[[participants]]\nid = "b"\nmodel = "big"\n',
            "line 6: `participants.2.model`: b",
        ),
    ],
)
def test_a_mistake_that_only_the_project_shows_has_its_line_too(project: Project, text: str, told: str) -> None:
    project.play(*debating())
    path = project.write("d.toml", f'question = "Well?"\n{text}')
    assert f"{path}, {told}" in project.swarm("debate", str(path), exits=2).stderr
    assert project.requests == []


def test_voices_are_written_in_a_file_as_on_the_command_line(project: Project) -> None:
    project.play(*debating())
    path = project.write("d.toml", 'question = "Well?"\nparticipants = ["advocate", "b=local/x"]\n')
    told = project.json("debate", str(path))
    seats = Swarm(project.root).council.record(told["id"]).debate.seats
    assert [(seat.id, seat.model, bool(seat.brief)) for seat in seats] == [
        ("advocate", "", True),
        ("b", "local/x", False),
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ('folder = "nope"', "line 7: task 2: b: There is no folder 'nope'"),
        ('model = "loca/x"', "line 7: task 2: b: unknown provider `loca`; did you mean `local`?"),
    ],
)
def test_the_file_of_a_dispatch_has_its_lines_too(project: Project, line: str, told: str) -> None:
    project.play()
    tasks = "".join(f'[[tasks]]\nparticipant = "{name}"\ntext = "x"\n' for name in "ab")
    path = project.write("t.toml", f"{tasks}{line}\n")
    assert f"{path}, {told}" in project.swarm("dispatch", "--mode", "parallel", str(path), exits=2).stderr


def test_the_second_of_two_is_the_one_that_is_wrong_and_a_role_has_its_own_key(project: Project) -> None:
    project.play()
    tasks = '[[tasks]]\nrole = "critic"\ntext = "x"\n'
    path = project.write("t.toml", tasks + tasks.replace("role", "participant"))
    said = project.swarm("dispatch", "--mode", "debate", str(path), exits=2).stderr
    assert "line 5: task 2: critic takes part twice" in said
    project.configure(providers__local={"api_key_env": "NOT_SET_HERE"})
    said = project.swarm("dispatch", "--mode", "parallel", str(path), exits=6).stderr
    assert "of role `critic`" in said
    assert "`participant`" not in said


# --- how it ended ---


def test_a_rejection_that_nobody_voted_for_has_its_reasons(project: Project) -> None:
    project.play(*debating(), rule("participant", "debate", DOWN, round="2", participant="challenger"))
    told = project.swarm("debate", "Well?", "--no-synthesis", exits=1)
    reasons = told.stdout.partition("Reasons:")[2].partition("Dissent:")[0]
    assert "challenger failed: " in reasons
    assert "approve does not outnumber reject and failed: 1 approve, 0 reject, 0 abstain, 1 failed" in reasons
    again = project.json("debate", "show", only_debate(project))
    assert again["outcome"]["verdict"] == "REJECT"


@pytest.mark.slow
def test_a_failed_synthesis_and_a_budget_name_the_way_on(project: Project) -> None:
    project.play(*debating(), rule("architect", "synthesize", {"text": "Well."}))
    failed = project.json("debate", "Well?", exits=5)
    first = only_debate(project)
    assert f"swarm debate resume {first}" in failed["hint"]
    spent = project.json("debate", "Well?", "--tokens", "1", exits=4)
    assert "swarm debate resume " in spent["hint"]
    assert spent["hint"].endswith(" --tokens N")
    project.play(*debating())
    project.swarm("debate", "resume", first)


def test_a_vote_is_shown_once_and_as_prose(project: Project) -> None:
    project.play(*debating(), synthesis("APPROVE", "r1-msg-001"))
    project.swarm("debate", "Well?")
    shown = project.swarm("debate", "show", only_debate(project)).stdout
    assert "I hold this." in shown
    assert shown.count("advocate says APPROVE") == 1
    assert '{"' not in shown
    assert "```" not in shown


def test_retries_and_the_clock(project: Project) -> None:
    project.play(*debating(), rule("participant", "debate", DOWN, round="1", participant="advocate"))
    lines = event_lines(project.swarm("debate", "Well?", "--json", exits=0).stderr)
    tries = [line["text"] for line in lines if line["kind"] == "model"]
    assert any("; try 2 of 3 in " in text for text in tries)
    assert any("; try 3 of 3 in " in text for text in tries)
    assert any("(tried 3 times)" in line["text"] for line in lines)
    seconds = [line["seconds"] for line in lines]
    assert all(each > 0 for each in seconds)
    assert seconds == sorted(seconds)


def test_nothing_that_a_model_says_steers_the_terminal(project: Project) -> None:
    project.play(*debating(), rule("participant", "debate", {"text": speech(f"claim {BIDI}x")}, round="1"))
    held = project.swarm("debate", f"Well {BIDI}?")
    shown = project.swarm("debate", "show", only_debate(project))
    listed = project.swarm("debate", "list")
    raw = project.swarm("debate", "show", only_debate(project), "--json")
    for each in (held, shown, listed, raw):
        assert not set("\u202e\u2066\x1b") & set(each.stdout)
    assert "\ufffd" in json.loads(raw.stdout)["debate"]["question"]


# --- lists and ids ---


def test_an_id_of_another_kind_says_what_it_is(project: Project, tmp_path: Path) -> None:
    project.play(*debating(), says("a", "Alpha."))
    project.swarm("debate", "Well?")
    debate = only_debate(project)
    tasks = tmp_path / "t.toml"
    tasks.write_text('mode = "single"\n[[tasks]]\nparticipant = "a"\ntext = "Look\\nhere."\n')
    dispatch = project.json("dispatch", str(tasks))["id"]
    assert f"swarm dispatch show {dispatch}" in project.swarm("debate", "show", dispatch, exits=2).stderr
    assert f"swarm debate show {debate}" in project.swarm("dispatch", "show", debate, exits=2).stderr
    assert f"swarm debate show {debate}" in project.swarm("chat", "show", debate, exits=2).stderr
    unknown = project.swarm("debate", "show", "20200101-000000-zzzz", exits=2).stderr
    assert "swarm debate list" in unknown
    assert "Did you mean" not in unknown
    (row,) = project.json("dispatch", "list")
    assert (row["id"], row["mode"], row["summary"]) == (dispatch, "single", "1/1 succeeded")
    line = project.swarm("dispatch", "list").stdout
    assert line.startswith(f"{dispatch}  {row['began']}  single  1/1 succeeded  Look here.")


def test_lists_have_the_newest_first_whatever_its_name(project: Project) -> None:
    project.play(*debating())
    for name in ("zebra", "a-name-that-is-longer"):
        project.swarm("debate", str(project.write(f"{name}.toml", f'question = "Well?"\nid = "{name}"\n')))
    rows = project.json("debate", "list")
    assert [row["id"] for row in rows] == ["a-name-that-is-longer", "zebra"]
    first, second = project.swarm("debate", "list").stdout.splitlines()
    assert first.index("APPROVE") == second.index("APPROVE")


# --- a dispatched debate ---

DISPATCHED = 'mode = "debate"\nquestion = "Well?"\n' + "".join(
    f'[[tasks]]\nparticipant = "{name}"\ntext = "x"\nfolder = "src"\n' for name in "ab"
)


def test_a_dispatched_debate_that_rejects_is_1_and_is_shown_in_words(project: Project) -> None:
    project.play(*debating(votes={"a": "REJECT", "b": "REJECT"}), synthesis("REJECT", "r2-msg-001"))
    told = project.swarm("dispatch", str(project.write("t.toml", DISPATCHED)), exits=1).stdout
    assert "FINAL_VERDICT: REJECT, 80% sure" in told
    assert '{"' not in told


def test_a_dispatched_debate_goes_on_in_its_folders_and_with_its_allowance(project: Project) -> None:
    looks = [{"name": "read_file", "arguments": {"path": "calc/__init__.py"}}]
    project.play(*debating(), rule("architect", "synthesize", {"text": "Well."}), council={"total_tokens": 1_000_000})
    failed = project.json("dispatch", str(project.write("t.toml", DISPATCHED)), exits=5)
    dispatch = only_debate(project)
    assert f"swarm debate resume {dispatch}" in failed["hint"]
    place = project.folder.discussions / f"{dispatch}.debate" / "journal.jsonl"
    lines = place.read_bytes().splitlines(keepends=True)
    place.write_bytes(b"".join(lines[: 1 + next(at for at, line in enumerate(lines) if b'"compared"' in line)]))
    project.requests.clear()
    voted = rule("participant", "debate", looks, {"text": ballot("APPROVE", "r1-msg-001")}, round="2")
    project.play(*debating(), voted, council={"total_tokens": 1_000_000})
    project.swarm("debate", "resume", dispatch)
    seen = [part["content"] for request in project.requests for part in request.messages if part["role"] == "tool"]
    assert seen
    assert all("Sums." in each for each in seen)
    begun = json.loads((project.folder.discussions / dispatch / "journal.jsonl").read_text().splitlines()[0])
    assert begun["event"]["allowance"]["tokens"] == 1_000_000
    assert project.json("dispatch", "show", dispatch)["outcome"]["verdict"] == "APPROVE"


def test_the_help_of_a_verb_names_it_alone(project: Project) -> None:
    assert "[TASKS.toml] show" not in project.swarm("dispatch", "show", "--help").stdout
