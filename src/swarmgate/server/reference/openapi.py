"""The OpenAPI document of the endpoints of ADR 0007: their bodies, and the envelope of every answer."""

from __future__ import annotations

from typing import Any, Literal

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import BaseModel, ConfigDict, Field
from pydantic.json_schema import models_json_schema

from swarmgate.server.reference.routes import PREFIX, router

PATH = "/api/v1/openapi.json"
"""Where the document is."""
_ABOUT = """Agents that discuss, criticise and work in patterns: the endpoints of ADR 0007.

Every answer is an envelope. A `POST` that begins something answers 202 with an id and `Location`, or with its result
(200) where `wait` says how long that may take. Beside them stands the interface of the server itself, `/openapi.json`.
"""
_SCHEMES = {"token": {"type": "http", "scheme": "bearer", "description": "An access token, or an API key (`swk_...`)."}}
_OPEN = f"{PREFIX}/health"
"""What may be asked by anybody."""
_REFUSED = {
    400: "The request is not as it must be.",
    401: "Nothing proves who asks.",
    402: "A budget is used up.",
    403: "The role is too low.",
    404: "There is no such thing, or none that may be seen.",
    405: "That is no method of this path.",
    408: "The body did not come in time.",
    409: "It does not fit the state of things.",
    413: "The body is too large.",
    415: "The body is of another kind.",
    422: "The Idempotency-Key stands on another request.",
    429: "More requests in a minute than the server allows.",
    500: "A council failed, or there is a bug.",
    503: "Something that it needs is away.",
}
_LOCATION = {"Location": {"description": "Where it can be looked at.", "schema": {"type": "string"}}}


class Meta(BaseModel):
    """What there is to say of an answer."""

    timestamp: str = Field(description="UTC, ISO 8601.")
    requestId: str = Field(description="Stands in the server's log, too.")  # noqa: N815 - the name on the wire
    cached: bool = Field(False, description="Whether an earlier council answered the same request.")


class Failure(BaseModel):
    """What went wrong."""

    model_config = ConfigDict(extra="allow")

    code: str
    message: str
    details: dict[str, Any] = Field(default_factory=dict, description="The code and the hint of the command line.")


class Answer(BaseModel):
    """A success: `data` is what was asked for."""

    success: Literal[True]
    data: Any = None
    meta: Meta


class Refusal(BaseModel):
    """An error; `data` is what there is of the result all the same."""

    success: Literal[False]
    error: Failure
    data: Any = None
    meta: Meta


def document(app: FastAPI) -> dict[str, Any]:
    """The document, of the version of an application."""
    found = get_openapi(
        title="swarmgate agents",
        version=app.version,
        openapi_version="3.1.0",
        description=_ABOUT,
        routes=router.routes,
        servers=[{"url": "/", "description": "This server."}],
    )
    _, named = models_json_schema(
        [(Answer, "serialization"), (Refusal, "serialization")], ref_template="#/components/schemas/{model}"
    )
    schemas = found["components"]["schemas"]
    schemas |= named["$defs"]
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    found["components"]["securitySchemes"] = _SCHEMES
    for path, operations in found["paths"].items():
        for operation in operations.values():
            operation["security"] = [] if path == _OPEN else [{"token": []}]
            operation["responses"] = _answers(operation["responses"])
    return found


def _answers(declared: dict[str, Any]) -> dict[str, Any]:
    """The answers of an operation: those that it declares, and how it may be refused."""
    done = {"200": _answer("It is in `data`.", "Answer")}
    begun = {"202": {**_answer("It is under way.", "Answer"), "headers": _LOCATION}} if "202" in declared else {}
    return done | begun | {str(status): _answer(why, "Refusal") for status, why in _REFUSED.items()}


def _answer(description: str, model: str) -> dict[str, Any]:
    content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{model}"}}}
    return {"description": description, "content": content}
