"""The worked examples of the design rationale (document 002), typed as it writes them and run for real."""

from __future__ import annotations

import pytest
from tests.project import Project, call, part, plan, rule, task

CACHE = """
## SME Guidance Cache

### Security (Phase 1)
- Use bcrypt with cost factor 12
- Never log tokens
- Implement rate limiting

### API (Phase 1)  
- Return 401 for auth failures
- Use RFC 7807 for errors

Notes of mine.
"""  # noqa: W291 - the two blanks behind a heading are in the document


def asks(domain: str, question: str) -> list[dict[str, object]]:
    return [call("ask_sme", domain=domain, question=question)]


# --- 7: guidance of experts ---


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_standing_guidance_reaches_every_brief_of_its_domain_and_no_other(project: Project) -> None:
    project.planned(
        plan("1.1", task("2.1", title="Hash passwords of users"), task("2.2", title="Wrap long lines")),
        rule(
            "coder",
            "code",
            asks("Security", "Which bcrypt cost factor?"),
            asks("security", "Are pepper values needed?"),
            [
                call("write_file", path="src/calc/part_2.1.py", content=part("2.1")),
                call("finish", summary="done"),
            ],
            task="2.1",
        ),
        rule("sme", "consult", {"text": "No pepper: bcrypt has a salt of its own."}),
        review={"security": "always"},
    )
    project.folder.context.write_text(project.folder.context.read_text() + CACHE)
    mine = project.folder.context.read_bytes()
    project.swarm("run", exits=3)
    for end in (3, 0):
        project.swarm("approve")
        project.swarm("run", exits=end)
    fact, other = "- Use bcrypt with cost factor 12", "- Use RFC 7807 for errors"
    steps = (("architect", "delegate"), ("coder", "code"), ("reviewer", "review"), ("test_engineer", "test"))
    for role, step in steps:
        assert fact in project.briefs(role, step, task="1.1")[0], (role, "given in that phase")
        assert fact in project.briefs(role, step, task="2.1")[0], role
        assert other not in project.briefs(role, step, task="2.1")[0], role
        assert fact not in project.briefs(role, step, task="2.2")[0], role
    assert fact in project.briefs("reviewer", "security_review", task="2.2")[0]
    (asked,) = project.briefs("sme", "consult")
    assert "DOMAIN: security\n" in asked
    assert fact in asked
    assert other not in asked
    told = [m["content"] for request in project.requests for m in request.messages if m["role"] == "tool"]
    assert any("From the guidance of this project (Security):" in each and fact[2:] in each for each in told)
    context = project.folder.context.read_bytes()
    facts = mine[mine.index(b"## SME Guidance Cache") : mine.index(b"Notes of mine.")]
    assert facts in context
    assert b"Notes of mine.\n" in context
    assert b"- Question: Are pepper values needed?" in context
    assert project.json("doctor", exits=0)
    assert "context.md" not in project.swarm("doctor").stderr


# --- 8: checkpoints ---


@pytest.mark.slow
@pytest.mark.suite("unittest")
def test_a_checkpoint_says_what_was_created_where_and_asks_for_the_next_phase_by_name(project: Project) -> None:
    phases = [
        {"name": "Foundation", "tasks": [task("1.1", title="User model"), task("1.2", title="Migrations")]},
        {"name": "Core Auth", "tasks": [task("2.1", title="Tokens")]},
    ]
    project.planned(rule("architect", "plan", [call("save_plan", title="Authentication", phases=phases)]))
    ran = project.swarm("run", exits=3).stdout
    told = (
        "Created: User model, Migrations\nFiles: src/calc/part_1.1.py, src/calc/part_1.2.py\n\n"
        "Ready to proceed to Phase 2: Core Auth?\n"
    )
    assert told in ran
    assert told in project.swarm("status").stdout
    assert project.json("status")["checkpoint"] == {
        "phase": 1,
        "name": "Foundation",
        "created": ["User model", "Migrations"],
        "files": ["src/calc/part_1.1.py", "src/calc/part_1.2.py"],
        "skipped": [],
        "next_phase": 2,
        "next_name": "Core Auth",
    }
    project.swarm("approve")
    assert project.json("status")["checkpoint"] is None
    assert "Ready to finish?\n" in project.swarm("run", exits=3).stdout


# --- 12: automation ---


@pytest.mark.suite("unittest")
def test_evidence_summary_is_typed_as_it_is_written(project: Project) -> None:
    assert "no plan yet" in project.swarm("evidence", "summary").stdout
    project.planned()
    project.swarm("run", exits=3)
    shown = project.swarm("evidence", "summary").stdout
    assert shown.startswith("## Task 1.1: Part 1.1\n")
    assert project.swarm("evidence", "summary", "1.1").stdout == shown
    assert project.swarm("evidence", "--summary").stdout == shown
    assert project.json("evidence", "summary")["tasks"][0]["task"] == "1.1"
