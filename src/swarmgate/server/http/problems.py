"""Answers for everything that goes wrong: problem+json (RFC 9457) with the codes and hints of the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import Scope

from swarmgate import errors
from swarmgate.domain.base import Frozen
from swarmgate.errors import SwarmError

MEDIA_TYPE = "application/problem+json"

_STATUS: dict[type[SwarmError], int] = {
    errors.BadRequest: 400,
    errors.Unauthenticated: 401,
    errors.NotAllowed: 403,
    errors.NotFound: 404,
    errors.BodyTooSlow: 408,
    errors.IllegalMove: 409,
    errors.AlreadyWatching: 409,
    errors.Archived: 409,
    errors.ConfigError: 409,
    errors.NotAProject: 409,
    errors.WorkspaceError: 409,
    errors.LedgerError: 409,
    errors.LedgerWriteFailed: 507,
    errors.FleetError: 409,
    errors.RemoteAway: 503,
    errors.QueueAway: 503,
    errors.WaitingForUser: 409,
    errors.BudgetExhausted: 409,
    errors.PreflightFailed: 409,
    errors.SelfCodingBlocked: 409,
    errors.Stopped: 409,
    errors.Stale: 412,
    errors.BodyTooLarge: 413,
    errors.KeyReused: 422,
    errors.TooMany: 429,
    errors.ModelError: 502,
    errors.MissingRequirement: 503,
    errors.TooSlow: 503,
    errors.Full: 503,
    errors.UsageError: 400,
    SwarmError: 500,
}
"""The status of an error is that of the nearest class above it that stands here."""

_TITLES = {
    400: "The request is wrong",
    401: "Nobody is logged in",
    403: "That is not allowed",
    404: "There is no such thing",
    405: "That cannot be done here",
    406: "It cannot be answered in that form",
    408: "The request took too long",
    409: "It does not fit the state of things",
    412: "It has moved on",
    413: "The body is too large",
    415: "The body has the wrong form",
    422: "The request does not say what it has to",
    429: "Too many requests",
    500: "The server has a bug",
    502: "A model failed",
    503: "The server cannot do that now",
    507: "The disk is full",
}
_CODES = {400: "BAD_REQUEST", 404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED", 413: "BODY_TOO_LARGE", 422: "VALIDATION"}
"""The codes of what the framework itself refuses."""


class FieldProblem(Frozen):
    """What is wrong with one field: its place, such as `body.text`, and a sentence. The value is never repeated."""

    field: str
    message: str


class Problem(Frozen):
    """An error as it is answered.

    Attributes:
        type: a name for this kind of error; it leads nowhere.
        title: the status in words.
        status: of the answer.
        detail: what happened and where.
        instance: the id of the request, which stands in the log as well.
        code: that of the error on the command line.
        hint: what to do next; empty when the detail says it all.
        exit_code: what the command line would have ended with.
        problems: each field of the request that is wrong, or each broken rule.
    """

    type: str
    title: str
    status: int
    detail: str
    instance: str = ""
    code: str
    hint: str = ""
    exit_code: int = 2
    problems: tuple[FieldProblem, ...] = Field(default=())


Dialect = Callable[[Problem, Mapping[str, str] | None], Response]
"""Makes a response of a problem and its headers."""


def status_of(error: SwarmError) -> int:
    """The status that an error is answered with."""
    return next(_STATUS[each] for each in type(error).__mro__ if each in _STATUS)


def problem_of(error: SwarmError, request: str = "") -> Problem:
    """An error as it is answered; `request` is the id of the request."""
    rules = getattr(error, "problems", ())
    return _problem(
        status_of(error),
        error.code,
        error.message,
        request=request,
        hint=error.hint,
        exit_code=error.exit_code,
        problems=tuple(FieldProblem(field="", message=each) for each in rules),
    )


def answer(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """A problem as a response."""
    return Response(problem.model_dump_json(), problem.status, headers, media_type=MEDIA_TYPE)


def speak(app: FastAPI, prefix: str, dialect: Dialect) -> None:
    """Has whatever goes wrong below a path told in words of its own.

    Args:
        app: the application.
        prefix: of the paths.
        dialect: makes a response of a problem and its headers, as `answer` does.
    """
    app.state.dialects = {**getattr(app.state, "dialects", {}), prefix: dialect}


def answer_error(error: SwarmError, request: str = "", scope: Scope | None = None) -> Response:
    """An error as a response, with the headers that belong to it; `scope` is of the request, for its dialect."""
    headers = {}
    if isinstance(error, errors.TooMany | errors.StoreAway):
        headers["Retry-After"] = str(error.retry_after_s)
    if isinstance(error, errors.Unauthenticated):
        headers["WWW-Authenticate"] = 'Bearer realm="swarmgate"'
    if isinstance(error, errors.BodyTooLarge | errors.BodyTooSlow):
        headers["Connection"] = "close"  # the rest of the body is not read
    return _dialect(scope)(problem_of(error, request), headers)


def bug(request: str, report: str, scope: Scope | None = None) -> Response:
    """The answer for what nobody foresaw; it says where the report lies, and nothing of what is in it."""
    hint = f"tell an admin: the server wrote {report}" if report else "tell an admin: it stands in the server's log"
    detail = "The server met something that it does not know how to go on from."
    return _dialect(scope)(_problem(500, "BUG", detail, request=request, hint=hint, exit_code=70), None)


RESPONSES: dict[int | str, dict[str, Any]] = {
    status: {
        "description": _TITLES[status],
        "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
    }
    for status in (400, 401, 403, 404, 408, 409, 412, 413, 422, 429, 500, 502, 503, 507)
}
"""What every route may answer, for the OpenAPI document: `APIRouter(responses=RESPONSES)`; `Problem` is the schema."""


def install(app: FastAPI) -> None:
    """Has everything that routes and the framework raise answered as problems."""
    app.add_exception_handler(SwarmError, _swarm_error)
    app.add_exception_handler(HTTPException, http_error)
    app.add_exception_handler(RequestValidationError, _invalid)


def request_id(request: Request) -> str:
    """The id of a request; empty where nothing gave it one."""
    return str(request.scope.get("state", {}).get("request_id", ""))


async def _swarm_error(request: Request, error: Exception) -> Response:
    if not isinstance(error, SwarmError):
        raise error
    return answer_error(error, request_id(request), request.scope)


async def http_error(request: Request, error: Exception) -> Response:
    """What the framework itself refuses, as a problem."""
    if not isinstance(error, HTTPException):
        raise error
    status = error.status_code
    code = _CODES.get(status, "REQUEST_REFUSED")
    words = {404: f"There is nothing at {request.url.path}.", 405: f"{request.method} cannot be asked here."}
    problem = _problem(status, code, words.get(status, error.detail), request=request_id(request))
    return _dialect(request.scope)(problem, error.headers)


async def _invalid(request: Request, error: Exception) -> Response:
    if not isinstance(error, RequestValidationError):
        raise error
    found = tuple(
        FieldProblem(field=".".join(map(str, each["loc"])), message=str(each["msg"]).removeprefix("Value error, "))
        for each in error.errors()
    )
    named = ", ".join(dict.fromkeys(each.field for each in found))
    detail = f"These fields are wrong: {named}."
    return answer(_problem(422, "VALIDATION", detail, request=request_id(request), problems=found))


def _dialect(scope: Scope | None) -> Dialect:
    """The words in which problems of a request are told."""
    spoken: Mapping[str, Dialect] = getattr(scope["app"].state, "dialects", {}) if scope and "app" in scope else {}
    path = scope["path"] if scope else ""
    return next((each for prefix, each in spoken.items() if path.startswith(prefix)), answer)


def _problem(status: int, code: str, detail: str, *, request: str, **more: Any) -> Problem:
    return Problem(
        type=f"urn:swarmgate:problem:{code.lower().replace('_', '-')}",
        title=_TITLES.get(status, "The request was refused"),
        status=status,
        detail=detail,
        code=code,
        instance=f"urn:swarmgate:request:{request}" if request else "",
        **more,
    )
