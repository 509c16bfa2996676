"""Command lines of agent programs: what they start, by what, and which words may be files."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmgate.config.command_lines import commands, mentioned, read


@pytest.mark.parametrize(
    ("command", "program", "script", "is_file"),
    [
        ("claude -p", "claude", "", False),
        ("env -u A B=1 gemini", "gemini", "", False),
        ("python3.12 -W ignore -u agents/a.py x", "python3.12", "agents/a.py", True),
        ("python3 -m agents.a --fast", "python3", "agents.a", False),
        ("python3 -c 'print()' a.py", "python3", "", False),
        ("python3 - < a.py", "python3", "", False),
        ("bash -e -o pipefail run.sh", "bash", "run.sh", True),
        ("bash -ec 'run.sh'", "bash", "", False),
        ("node --import tsx a.ts", "node", "a.ts", True),
        ("java -Xmx1g -cp lib -jar a.jar", "java", "a.jar", True),
        ("npx -y --package x @openai/codex@1 exec", "npx", "@openai/codex@1", False),
        ("uv run --with x python -u a.py", "uv", "a.py", True),
        ("uv run agents/a.py", "uv", "agents/a.py", True),
        ("docker run --rm -i -v .:/w -e KEY me/agent:1 go", "docker", "me/agent:1", False),
        ("(python3 a.py)", "python3", "a.py", True),
        ("", "", "", False),
    ],
)
def test_what_a_command_line_starts(command: str, program: str, script: str, *, is_file: bool) -> None:
    line = read(command)
    assert (line.program, line.script, line.is_file) == (program, script, is_file)


@pytest.mark.parametrize(
    ("command", "model"),
    [
        ("claude -p --model opus", "opus"),
        ("codex exec -m=o3 -", "o3"),
        ("python3 -m agent", ""),
        ("python3 -m agent -m gpt-5", "gpt-5"),
        ("docker run -m 4g agent", ""),
        ("claude --model", ""),
    ],
)
def test_the_model_that_a_program_is_told(command: str, model: str) -> None:
    assert read(command).model == model


def test_every_single_command_is_found() -> None:
    line = read("cd agents && sh -c 'python3 a.py; node b.js' | tee log")
    assert [each.program for each in commands(line)] == ["cd", "sh", "tee", "python3", "node"]
    assert {"agents", "a.py", "b.js", "log"} <= set(mentioned(line))
    assert "x.json" in mentioned(read("agent --schema=x.json"))


@given(st.text(alphabet="ab '\"\\$;|&<>(){}=-/.\t", max_size=40))
def test_any_text_is_read(text: str) -> None:
    line = read(text)
    assert isinstance(line.identity, str)
    assert all(isinstance(each.program, str) for each in commands(line))
    assert set(line.words) <= set(mentioned(line))
