"""The reviewer sees facts alone; its findings must cite something; sensitive code is reviewed a second time."""

from __future__ import annotations

from typing import Any

import pytest
from tests.project import Project, Rule, call, code, plain, review, rule

from swarmgate.domain.events import event as ev

pytestmark = pytest.mark.suite("unittest")

LOGIN = '"""Who is there."""\n\n\ndef login(name: str) -> str:\n    """Say who."""\n    return name.strip()\n'
LATER = LOGIN.replace("name.strip()", "name.strip().lower()")


def security(word: str, *findings: dict[str, Any], **match: Any) -> Rule:
    said = call("submit_verdict", verdict=word, summary=f"security: {word}", findings=list(findings))
    return rule("reviewer", "security_review", [said], **match)


def found(quote: str, message: str = "A07 anybody can be anybody") -> dict[str, Any]:
    return {"severity": "high", "file": "src/calc/login.py", "quote": quote, "message": message}


@pytest.mark.slow
def test_a_sensitive_change_is_reviewed_for_its_security_too(project: Project) -> None:
    project.planned(
        code({"src/calc/login.py": LOGIN}),
        code({"src/calc/login.py": LATER}, attempt="2"),
        security("REJECTED", found("return name.strip()")),
        security("APPROVED", attempt="2"),
    )
    project.swarm("run", exits=3)
    first, second = project.state.task("1.1").attempts
    assert (first.stage, first.reason) == ("security_reviewer", "security: REJECTED")
    assert [remark.message for remark in first.feedback] == ["A07 anybody can be anybody"]
    assert first.sensitive[0] == "src/calc/login.py: path login.* (authentication and authorisation)"
    assert second.security_review is not None
    assert second.security_review.approved
    assert [event.passed for event in project.events(ev.SecurityReviewGiven)] == [False, True]
    brief = project.briefs("reviewer", "security_review")[0]
    assert first.sensitive[0] in brief
    assert "I-CLAIM-IT-IS-DONE" not in "".join([*project.briefs("reviewer", "review"), brief])
    assert (project.folder.evidence / "1.1/attempt-2/security_review.json").is_file()
    assert "A07 anybody" in project.briefs("coder", "code", attempt="2")[0]
    shown = plain(project.swarm("show", "1.1").stdout)
    assert "security review (local/senior): REJECTED - security: REJECTED" in shown
    assert "sensitive: src/calc/login.py: path login.*" in shown
    assert project.swarm("verify").exit_code == 0


@pytest.mark.slow
def test_security_reviews_can_be_switched_off(project: Project) -> None:
    project.planned(code({"src/calc/login.py": LOGIN}), review={"security": "off"})
    project.swarm("run", exits=3)
    assert not project.events(ev.SecurityReviewGiven)


@pytest.mark.slow
def test_every_change_can_be_reviewed_for_its_security(project: Project) -> None:
    project.planned(review={"security": "always"})
    project.swarm("run", exits=3)
    (given,) = project.events(ev.SecurityReviewGiven)
    assert given.passed
    assert project.events(ev.GatesRun)[0].sensitive == ('[review] security = "always"',)


@pytest.mark.slow
def test_the_user_may_overrule_a_security_rejection(project: Project) -> None:
    project.planned(
        code({"src/calc/login.py": LOGIN}),
        security("REJECTED", found("return name.strip()")),
        loop={"max_rejections": 1},
    )
    project.swarm("run", exits=1)
    project.swarm("override", "1.1", "--reason", "it is a demo")
    project.swarm("run", exits=3)
    last = project.state.task("1.1").attempts[-1]
    assert last.security_review is not None
    assert (last.kind, last.security_review.summary) == (ev.AttemptKind.OVERRIDE, "security: REJECTED")


@pytest.mark.slow
def test_a_finding_that_cites_nothing_is_dropped_and_the_rejection_stays(project: Project) -> None:
    invented = {"severity": "high", "file": "src/calc/part_1.1.py", "quote": "os.system(x)", "message": "INVENTED"}
    real = {"severity": "medium", "file": "src/calc/part_1.1.py", "quote": 'VALUE = "1.1"', "message": "REAL"}
    said = call("submit_verdict", verdict="REJECTED", summary="not good", findings=[invented, real])
    project.planned(rule("reviewer", "review", [said], attempt="1"))
    project.swarm("run", exits=3)
    first, _ = project.state.task("1.1").attempts
    assert first.review is not None
    assert [remark.message for remark in first.review.dropped] == ["INVENTED"]
    assert [remark.message for remark in first.feedback] == ["REAL"]
    assert "INVENTED" not in project.briefs("coder", "code", attempt="2")[0]
    notes = [event.note for event in project.events(ev.GuardActed) if event.note.rule == "citation"]
    assert [(note.role, note.attempt) for note in notes] == [("reviewer", 1)]
    shown = plain(project.swarm("show", "1.1").stdout)
    assert "dropped, as it cites nothing: INVENTED" in shown


@pytest.mark.slow
def test_a_rejection_without_any_citation_is_still_one(project: Project) -> None:
    project.planned(review("REJECTED", "no exp claim", "bad", attempt="1"))
    project.swarm("run", exits=3)
    first, _ = project.state.task("1.1").attempts
    assert (first.stage, first.reason) == ("reviewer", "no exp claim")
    assert [remark.message for remark in first.feedback] == ["bad"]  # the one reason that there is
    assert first.review is not None
    assert (first.review.findings, len(first.review.dropped)) == ((), 1)


@pytest.mark.slow
def test_no_made_up_quote_reaches_the_coder_even_where_nothing_else_is_left(project: Project) -> None:
    invented = {"severity": "high", "file": "src/calc/part_1.1.py", "quote": "os.system(x)", "message": "INVENTED"}
    said = call("submit_verdict", verdict="REJECTED", summary="", findings=[invented])
    project.planned(rule("reviewer", "review", [said], attempt="1"))
    project.swarm("run", exits=3)
    first, _ = project.state.task("1.1").attempts
    assert (first.reason, first.feedback) == ("no finding of the verdict stands", ())
    assert "INVENTED" not in project.briefs("coder", "code", attempt="2")[0]


@pytest.mark.slow
def test_citations_can_be_switched_off(project: Project) -> None:
    project.planned(review("REJECTED", "no exp claim", "bad", attempt="1"), review={"cite": False})
    project.swarm("run", exits=3)
    first, _ = project.state.task("1.1").attempts
    assert [remark.message for remark in first.feedback] == ["bad"]
    assert len([request for request in project.requests if request.headers.get("ROLE") == "reviewer"]) == 2
