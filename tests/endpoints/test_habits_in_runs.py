"""Habits of real endpoints in front of whole runs: plan, approve, run, and the task is committed."""

from __future__ import annotations

import pytest
from tests.project import Project, call, part, rule

pytestmark = [pytest.mark.slow, pytest.mark.suite("unittest")]

HABITS = [
    ("deepseek-reasoning-must-return",),
    ("gemini-signature-must-return", "usage-with-the-end", "calls-at-once"),
    ("openrouter-reasoning-details-must-return", "stream-comments"),
    ("think-closing-only", "tools-refused-model"),
    ("think-tags", "calls-qwen3-coder"),
    ("harmony-channels", "call-name-with-namespace"),
    ("calls-glm",),
    ("calls-hermes", "system-refused-template"),
    ("calls-mistral-named",),
    ("tools-dropped-in-silence",),
    ("tools-refused-parser", "roles-must-alternate"),
    ("call-ids-twice", "calls-must-be-answered"),
    ("call-index-always-0", "call-ids-missing"),
    ("call-ids-of-nine", "content-empty-refused"),
    ("stream-cut-off", "stream-without-done", "stream-crlf"),
    ("error-loading", "characters-cut", "connection-dies"),
    ("temperature-refused", "max-tokens-refused", "stream-options-refused-detail", "schema-keyword-refused"),
]


@pytest.mark.parametrize("habits", HABITS, ids="+".join)
def test_a_run_completes(project: Project, habits: tuple[str, ...]) -> None:
    sampled = {"roles.default": {"temperature": 0.2, "max_tokens": 4_000}, "roles.coder": {"temperature": 0.2}}
    tables = {name.replace(".", "__"): values for name, values in sampled.items()}
    written = [call("write_file", path="src/calc/part_{{task}}.py", content=part("{{task}}"))]
    project.habits = habits
    project.play(rule("coder", "code", written, [call("finish", summary="done")]), **tables)
    planned = project.swarm("plan", "Add parts", exits=3)
    project.swarm("approve")
    ran = project.swarm("run", exits=3)
    project.swarm("approve")
    project.swarm("run")
    assert (project.root / "src/calc/part_1.1.py").read_text() == '"""A part."""\n\nVALUE = "1.1"\n'
    assert project.trailers("HEAD~0")["Swarm-Task"] == "1.1"
    assert "Traceback" not in planned.stderr + ran.stderr
    assert project.git("status", "--porcelain", "--", "src") == ""
