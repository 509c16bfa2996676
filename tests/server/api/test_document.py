"""The document of the interface: complete, and as wide as the command line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import pytest
from fastapi import FastAPI

from swarmgate.cli.verbs import VERBS
from swarmgate.council.patterns import PATTERNS
from swarmgate.server.api import router
from swarmgate.server.api.bodies import Pattern
from swarmgate.server.http import streams
from swarmgate.server.reference import openapi, routes

OPERATIONS = {
    "doctor": {"run_doctor", "get_operation"},
    "agents": {"list_agents"},
    "plan": {"create_goal", "get_plan", "answer_question"},
    "run": {"start_run", "get_run", "list_runs", "pause_run", "resume_run"},
    "stop": {"stop_run"},
    "pr": {"open_pull_request"},
    "approve": {"list_approvals", "get_approval", "decide_approval"},
    "answer": {"list_questions", "get_question", "answer_question"},
    "revise": {"revise_goal"},
    "retry": {"retry_task"},
    "skip": {"skip_task"},
    "undo": {"undo_task"},
    "override": {"override_task"},
    "abandon": {"abandon_goal"},
    "status": {"get_goal", "list_goals", "list_needs"},
    "top": {"get_run", "stream_events"},
    "cost": {"get_cost"},
    "show": {"get_task", "list_tasks"},
    "history": {"get_history"},
    "failures": {"get_failures"},
    "verify": {"verify_ledger", "get_ledger"},
    "evidence": {"get_evidence", "list_evidence", "read_evidence"},
    "drift": {"get_drift"},
    "handoff": {"get_handoff"},
    "report": {"get_report", "get_report_page"},
    "gates": {"list_gates", "explain_rule", "run_gates", "get_operation"},
    "sbom": {"get_sbom"},
    "automation": {"get_automation"},
    "events": {"list_events", "stream_events"},
    "preflight": {"run_preflight"},
    "fleet": {"get_fleet"},
    "metrics": {"get_metrics"},
} | {each.verb: {"start_council", "get_council", "list_councils", "resume_council"} for each in PATTERNS.values()}
"""The operations that look at, or decide, what a verb does."""
ELSEWHERE = {
    "init": "a repository is registered that has been initialised",
    "demo": "swarm serve --demo",
    "docs": "the pages of an installation",
    "attest": "needs a clone and nothing else, so whoever has one verifies it there",
    "guard": "asks the guards of this machine about a command",
    "watch": "a process beside an editor",
    "sync": "the next decision takes hand edits in",
    "hook": "answers programs of the user's own on their machine",
    "hooks": "commands of the user's own on their machine",
    "eval": "measures swarmgate itself",
    "mcp": "serves a coding agent on the machine",
    "lsp": "serves an editor on the machine",
    "serve": "starts the server",
    "worker": "works for a fleet, which has its own line",
    "server": "keeps the server itself",
}
"""Verbs that neither look at a goal nor decide about one, and why."""


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    """As `/openapi.json` has it."""
    app = FastAPI()
    app.include_router(streams.router)
    router.install(app)
    return app.openapi()


def operations(document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}", operation


def test_it_is_of_openapi_3_1_and_holds_every_reference(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    missing = set[str]()

    def look(value: object) -> None:
        if isinstance(value, dict):
            if isinstance(name := value.get("$ref"), str):
                kind, _, key = name.removeprefix("#/components/").partition("/")
                missing.update({name} if key not in document["components"][kind] else ())
            for each in value.values():
                look(each)
        elif isinstance(value, list):
            for each in value:
                look(each)

    look(document)
    assert not missing


def test_every_operation_has_an_id_of_its_own_a_tag_a_description_and_a_security(document: dict[str, Any]) -> None:
    ids = [operation["operationId"] for _, operation in operations(document)]
    assert len(ids) == len(set(ids))
    tags = {each["name"] for each in document["tags"]}
    for name, operation in operations(document):
        assert set(operation["tags"]) <= tags, name
        assert operation["description"].strip().endswith("."), name
        open_to_all = name in {"POST /v1/session", "POST /v1/session/refresh"}
        assert operation["security"] == ([] if open_to_all else [{"token": []}]), name


def test_every_operation_declares_its_answers_with_their_form(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        answers = operation["responses"]
        assert {"401", "403", "404", "422", "429", "500"} <= set(answers), name
        for status, answer in answers.items():
            if status.startswith(("4", "5")):
                assert list(answer["content"]) == ["application/problem+json"], f"{name} {status}"
            elif status not in {"204", "304"}:
                form = next(iter(answer["content"].values()))
                assert form.get("schema"), f"{name} {status}"
            if status in {"201", "202"}:
                assert "Location" in answer.get("headers", {}) or "login-link" in name, f"{name} {status}"


def test_every_parameter_in_a_path_is_bounded_and_has_an_example(document: dict[str, Any]) -> None:
    for name, operation in operations(document):
        for parameter in operation.get("parameters", ()):
            schema = parameter["schema"]
            if parameter["in"] == "path":
                assert {"pattern", "maximum", "maxLength"} & set(schema), f"{name}: {parameter['name']}"
                assert schema.get("examples"), f"{name}: {parameter['name']}"


def test_everything_that_the_command_line_looks_at_or_decides_is_there(document: dict[str, Any]) -> None:
    there = {operation["operationId"] for _, operation in operations(document)}
    wanted = {each for several in OPERATIONS.values() for each in several}
    assert wanted <= there, wanted - there
    assert set(VERBS) - set(ELSEWHERE) <= set(OPERATIONS), set(VERBS) - set(ELSEWHERE) - set(OPERATIONS)


def test_the_endpoints_of_adr_0007_have_a_document_of_their_own() -> None:
    found = openapi.document(FastAPI(version="1"))
    served = {(route.path, method.lower()) for route in routes.router.routes for method in route.methods}  # type: ignore[attr-defined]  # all are routes
    told = {(path, method) for path, methods in found["paths"].items() for method in methods}
    assert told == served
    ids = [operation["operationId"] for _, operation in operations(found)]
    assert len(ids) == len(set(ids))
    schemas = found["components"]["schemas"]
    assert schemas["OrchestrationBody"]["properties"]["tasks"]["maxItems"] == 48
    for name, operation in operations(found):
        assert operation["security"] == ([] if name.endswith("agents/health") else [{"token": []}]), name
        for status, answer in operation["responses"].items():
            named = answer["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
            assert named == ("Answer" if status in {"200", "202"} else "Refusal")
            assert named in schemas


def test_every_pattern_of_the_council_can_be_begun() -> None:
    assert set(get_args(Pattern)) == set(PATTERNS)
