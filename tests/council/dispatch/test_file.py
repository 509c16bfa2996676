"""Tests the TOML file of a dispatch, and refusals that name file, line and key."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmgate.council.dispatch.file import read
from swarmgate.council.dispatch.model import Mode
from swarmgate.errors import CouncilRefused

TWO = """\
mode = "chain"

[[tasks]]
role = "critic"
text = \"\"\"
What breaks?
[[tasks]]
role = "no key, but text"
\"\"\"

[[tasks]]
participant = "ops"
text = "Mend this: {previous}"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "tasks.toml"


def refused(file: Path, text: str, mode: str = "", rounds: int | None = None) -> str:
    file.write_text(text)
    with pytest.raises(CouncilRefused) as caught:
        read(file, mode=mode, rounds=rounds)
    return caught.value.message


def test_a_file_says_all_of_it(file: Path) -> None:
    file.write_text("\ufeff" + TWO)
    found = read(file)
    assert (found.mode, [task.name for task in found.tasks]) == (Mode.CHAIN, ["critic", "ops"])
    assert 'role = "no key, but text"' in found.tasks[0].text


def test_json_may_stand_in_a_call_too_and_what_is_no_json_is_told_what_reads_it(tmp_path: Path) -> None:
    file = tmp_path / "tasks.json"
    file.write_text('subagent({"tasks": [{"agent": "critic", "task": "What breaks?"}]});\n')
    assert [task.text for task in read(file).tasks] == ["What breaks?"]
    for name in ("tasks.json", "tasks.js"):
        file = tmp_path / name
        file.write_text('subagent({ tasks: [{ agent: "critic", task: "What breaks?" }] })\n')
        with pytest.raises(CouncilRefused) as caught:
            read(file)
        assert "call the file tasks.yaml" in caught.value.hint
        assert [task.text for task in read(file.rename(tmp_path / "tasks.yaml")).tasks] == ["What breaks?"]


def test_the_command_line_says_what_the_file_does_not(file: Path) -> None:
    seats = "".join(f'[[tasks]]\nparticipant = "{name}"\ntext = "Is it sound?"\n' for name in "ab")
    file.write_text(seats)
    assert (read(file, mode="debate").rounds, read(file, mode="debate", default_rounds=3).rounds) == (2, 3)
    file.write_text('mode = "debate"\nrounds = 4\nquestion = "Now?"\n' + seats)
    assert (read(file).rounds, read(file, rounds=1).rounds, read(file, mode="debate").question) == (4, 1, "Now?")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ('role = "critic"', 'role = "critc"', ", line 4: task 1: unknown role 'critc'; did you mean `critic`?"),
        ('participant = "ops"', "participant = 7", ", line 12: task 2: `participant` must be"),
        ('participant = "ops"\n', "", ", line 11: task 2: has no `agent`, `role` or `participant`"),
        ('text = "Mend this: {previous}"', 'txt = "x"', ", line 11: task 2: `text` is missing"),
        (
            'text = "Mend this: {previous}"',
            'text = "x"\nfolders = "y"',
            ", line 14: task 2: unknown key `folders`; did",
        ),
        ('mode = "chain"', 'mode = "chains"', ", line 1: unknown mode 'chains'; did you mean `chain`?"),
        ('mode = "chain"', 'mode = "single"', ", line 3: there are 2 tasks: mode single takes exactly one task"),
        ('mode = "chain"', 'mode = "chain"\nrounds = 2', ", line 2: `rounds` is legal with mode debate only"),
        ('mode = "chain"', 'mode = "chain"\n"question" = "?"', ", line 2: `question` is legal with mode debate only"),
        ('mode = "chain"', 'mode = "chain"\nround = 2', ", line 2: unknown key `round`; did you mean `rounds`?"),
        ('mode = "chain"', 'mode = "debate"\nrounds = 2\nquestion = 4', ", line 3: `question` must be text"),
        ('mode = "chain"', 'mode = "debate"\nquestion = "?"\nrounds = "2"', ", line 3: `rounds` is '2': a debate has"),
        ('mode = "chain"', 'mode = "chain"\n[rounded]', ", line 2: unknown key `rounded`; did you mean `rounds`?"),
        ('mode = "chain"', "", ": no mode is given"),
        ("What breaks?", "{previous} breaks?", ", line 5: task 1: `{previous}` stands in the first task"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(file: Path, old: str, new: str, told: str) -> None:
    assert old in TWO
    assert f"{file}{told}" in refused(file, TWO.replace(old, new))


def test_a_mode_is_said_in_one_place(file: Path) -> None:
    assert f"{file}, line 1: `mode` is 'chain' here and 'parallel' on the command line" in refused(
        file, TWO, "parallel"
    )
    assert "unknown mode 'paralel'; did you mean `parallel`?" in refused(file, TWO, "paralel")
    assert f"{file}: `rounds` is legal with mode debate only" in refused(file, TWO, rounds=2)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "there are 0 tasks: mode parallel takes 1 to 8 tasks"),
        ('mode = "single"', ": there are 0 tasks"),
        ('mode = "single"\ntasks = "x"', ", line 2: `tasks` must be a list"),
        ('mode = "single"\ntasks = ["x"]', ", line 2: task 1: must be a table"),
        ("mode = ", "is not valid TOML"),
        (f"{'a.' * 5000}b = 1", "is not valid TOML: nested too deeply"),
    ],
)
def test_what_holds_no_tasks_is_refused(file: Path, text: str, told: str) -> None:
    message = refused(file, text)
    assert message.startswith(str(file))
    assert told in message


def test_a_file_that_cannot_be_read_is_named(file: Path) -> None:
    with pytest.raises(CouncilRefused, match="cannot be read: No such file"):
        read(file)
    with pytest.raises(CouncilRefused, match="is not a regular file"):
        read(file.parent)
    file.write_bytes(b'mode = "\xff"')
    with pytest.raises(CouncilRefused, match="is not UTF-8 text"):
        read(file)


def test_a_file_that_is_too_long_and_a_chain_that_is_are_refused(file: Path) -> None:
    task = '[[tasks]]\nparticipant = "a"\ntext = "x"\n'
    assert "more than 10,000,000 bytes" in refused(file, 'mode = "chain"\n' + task * 300_000)
    assert "line 2: there are 51 tasks: mode chain takes 1 to 50 tasks" in refused(file, 'mode = "chain"\n' + task * 51)
