from __future__ import annotations

import pytest
from tests.server.http.conftest import Served
from tests.test_errors import _classes

from swarmgate.errors import PlanError, StoreAway, SwarmError, TooMany
from swarmgate.server.accounts.model import Account
from swarmgate.server.http.problems import RESPONSES, Problem, answer_error, problem_of, status_of


@pytest.mark.parametrize("error", _classes(SwarmError), ids=lambda each: each.__name__)
def test_every_error_has_a_status_and_keeps_code_hint_and_exit_code(error: type[SwarmError]) -> None:
    made = error.__new__(error)
    SwarmError.__init__(made, "what happened", hint="what to do")
    status = status_of(made)
    assert status >= 400
    assert (status == 500) == (error is SwarmError)
    problem = problem_of(made, "r1")
    assert (problem.code, problem.detail, problem.hint) == (error.code, "what happened", "what to do")
    assert (problem.exit_code, problem.status) == (error.exit_code, status)
    assert problem.instance == "urn:swarmgate:request:r1"
    assert status in RESPONSES


def test_broken_rules_are_listed() -> None:
    problem = problem_of(PlanError("The plan breaks rules.", problems=("task 1.1 has no title",)))
    assert [each.message for each in problem.problems] == ["task 1.1 has no title"]


def test_who_has_to_wait_is_told_how_long() -> None:
    assert answer_error(TooMany("x", retry_after_s=42)).headers["retry-after"] == "42"
    assert answer_error(StoreAway("x")).headers["retry-after"] == "5"


def problem(
    served: Served, method: str, path: str, *, json: object = None, headers: dict[str, str] | None = None
) -> Problem:
    with served.client() as client:
        answer = client.request(method, path, json=json, headers=headers)
    assert answer.headers["content-type"] == "application/problem+json"
    found = Problem.model_validate_json(answer.content)
    assert found.status == answer.status_code
    assert found.instance.endswith(answer.headers["x-request-id"])
    return found


def test_what_routes_raise_and_what_is_no_route_are_problems_alike(served: Served, ada: Account) -> None:
    assert problem(served, "GET", "/nothing").code == "NOT_FOUND"
    assert problem(served, "DELETE", "/who").code == "METHOD_NOT_ALLOWED"
    assert problem(served, "GET", "/forbidden").code == "FORBIDDEN"
    assert problem(served, "GET", "/mine").code == "UNAUTHENTICATED"
    refused = problem(served, "POST", "/things", json={"fail": 1}, headers=served.token(ada))
    assert (refused.status, refused.code, refused.hint) == (409, "ILLEGAL_MOVE", "try something else")


def test_fields_that_are_wrong_are_named_and_their_values_are_not_repeated(served: Served) -> None:
    found = problem(served, "POST", "/login", json={"password": 1 * ["geheim"], "extra": "geheim"})
    assert (found.status, found.code) == (422, "VALIDATION")
    assert [each.field for each in found.problems] == ["body.name", "body.password", "body.extra"]
    assert "geheim" not in found.model_dump_json()


def test_a_body_that_is_no_json_is_told(served: Served, ada: Account) -> None:
    with served.client() as client:
        answer = client.post("/things", content=b"{", headers={**served.token(ada), "Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["code"]) == (422, "VALIDATION")
