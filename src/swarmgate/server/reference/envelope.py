"""The envelope of every answer, `{success, data, error, meta}`, and what our errors are called in it."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from datetime import UTC, datetime
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import ValidationError

from swarmgate.errors import (
    BudgetExhausted,
    CouncilFailed,
    IllegalMove,
    MissingRequirement,
    NotAllowed,
    NotFound,
    StoreAway,
    SwarmError,
    TooMany,
    Unauthenticated,
    UsageError,
)
from swarmgate.server.http.problems import Problem, request_id

_KNOWN: tuple[tuple[type[SwarmError], int, str], ...] = (
    (Unauthenticated, 401, "UNAUTHORIZED"),
    (NotAllowed, 403, "FORBIDDEN"),
    (NotFound, 404, "NOT_FOUND"),
    (TooMany, 429, "RATE_LIMIT_EXCEEDED"),
    (IllegalMove, 409, "CONFLICT"),
    (StoreAway, 503, "SERVICE_UNAVAILABLE"),
    (MissingRequirement, 503, "SERVICE_UNAVAILABLE"),
    (BudgetExhausted, 402, "BUDGET_EXHAUSTED"),
    (CouncilFailed, 500, "COLLABORATION_ERROR"),
    (UsageError, 400, "INVALID_REQUEST"),
)
"""Status and code of each kind of error, the first that fits; any other is a 500 `INTERNAL_ERROR`."""


def now() -> str:
    """The time as the reference writes it: UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def envelope(
    data: Any = None, *, request_id: str, error: Mapping[str, Any] | None = None, **meta: Any
) -> dict[str, Any]:
    """An answer.

    Args:
        data: JSON-ready; None: there is none.
        request_id: of the request.
        error: `code`, `message`, and perhaps `details`; None: it is a success.
        meta: what more there is to say of the answer.
    """
    found: dict[str, Any] = {"success": error is None}
    found |= {} if data is None else {"data": data}
    found |= {} if error is None else {"error": dict(error)}
    return {**found, "meta": {"timestamp": now(), "requestId": request_id, **meta}}


def told(error: SwarmError) -> tuple[int, dict[str, Any]]:
    """The status and the `error` of the envelope of an error of ours."""
    status, code = next(
        ((status, code) for kind, status, code in _KNOWN if isinstance(error, kind)), (500, "INTERNAL_ERROR")
    )
    details = {"code": error.code, **({"hint": error.hint} if error.hint else {})}
    return status, {"code": code, "message": error.message, "details": details}


def refused(error: ValidationError | RequestValidationError) -> dict[str, Any]:
    """The `error` of the envelope of a body that is not as it must be; it names the first mistake, `details` all."""
    problems = [
        {"path": _path(each["loc"]), "message": each["msg"].removeprefix("Value error, ")} for each in error.errors()
    ]
    first = problems[0]
    where = f"{first['path']}: " if first["path"] else ""
    return {"code": "VALIDATION_ERROR", "message": f"{where}{first['message']}", "details": {"problems": problems}}


def _path(loc: tuple[int | str, ...]) -> str:
    parts = loc[1:] if loc and loc[0] in {"body", "query", "path", "header"} else loc
    return ".".join(map(str, parts))


def answer(
    request: Request, data: Any, *, status: int = 200, headers: Mapping[str, str] | None = None, **meta: Any
) -> Response:
    """A successful answer to a request."""
    body = envelope(data, request_id=request_id(request), **meta)
    return JSONResponse(body, status_code=status, headers=dict(headers or {}))


def failure(
    request: Request,
    status: int,
    error: Mapping[str, Any],
    data: Any = None,
    *,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """An answer that says what went wrong."""
    body = envelope(data, request_id=request_id(request), error=error)
    return JSONResponse(body, status_code=status, headers=dict(headers or {}))


def dialect(problem: Problem, headers: Mapping[str, str] | None = None) -> Response:
    """A problem that the door or the framework has with a request, in the envelope."""
    code = _CODES.get(problem.code, problem.code)
    details = {"code": problem.code, **({"hint": problem.hint} if problem.hint else {})}
    error = {"code": code, "message": problem.detail, "details": details}
    body = envelope(request_id=problem.instance.rpartition(":")[2], error=error)
    return JSONResponse(body, status_code=problem.status, headers=dict(headers or {}))


_CODES = {
    "UNAUTHENTICATED": "UNAUTHORIZED",
    "RATE_LIMITED": "RATE_LIMIT_EXCEEDED",
    "STORE_AWAY": "SERVICE_UNAVAILABLE",
    "BODY_TOO_SLOW": "TIMEOUT_ERROR",
    "BAD_REQUEST": "INVALID_REQUEST",
    "BUG": "INTERNAL_ERROR",
}
"""What the reference calls our codes, where it has a word of its own."""


class EnvelopeRoute(APIRoute):
    """A route whose errors are told in the envelope."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of the route, with its errors caught."""
        handle = super().get_route_handler()

        async def handled(request: Request) -> Response:
            try:
                return await handle(request)
            except (RequestValidationError, ValidationError) as error:
                return failure(request, 400, refused(error))
            except SwarmError as error:
                status, found = told(error)
                wait = error.retry_after_s if isinstance(error, TooMany | StoreAway) else 0
                return failure(request, status, found, headers={"Retry-After": str(wait)} if wait else None)

        return handled
