"""The OpenAPI document: what FastAPI makes of the routes, with what is the same for all of them."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from swarmgate.server.http.problems import MEDIA_TYPE, Problem

_PREFIX = "/v1/"
"""What the document is about: pages and health are not of the interface."""
_TAGS = {
    "Who asks": "Log in, oneself, API keys.",
    "Accounts": "Who may do what; for admins.",
    "Repositories": "What goals are worked on.",
    "Goals": "What is wanted, planned and done.",
    "Needs me": "What waits for a person: approvals, questions, blocked tasks, limits.",
    "Tasks": "One task, and decisions about it.",
    "Runs": "The work on goals.",
    "Councils": "Discussions, decisions, debates and the rest.",
    "Gates": "The quality gates of a project.",
    "Operations": "What takes a while: runs of the gates, doctor, preflight, pull requests.",
    "Records": "Ledger, evidence, cost, agents.",
    "Events": "Everything that happens, in one order: as a stream, a WebSocket, or page by page.",
}
_SCHEMES = {
    "token": {
        "type": "http",
        "scheme": "bearer",
        "description": "An access token of `POST /v1/session`, or an API key (`swk_...`).",
    },
}
_OPEN = {("/v1/session", "post"), ("/v1/session/refresh", "post")}
"""What may be asked by anybody."""
_ABOUT = """The team server of swarmgate: everything that the command line can look at or decide, by the same models.

A `POST` that starts work answers 202 with an id and `Location`. What changes carries an `ETag` that begins with the
position of its ledger; sent back as `If-Match`, it keeps a decision from being taken over what moved on (412). With an
`Idempotency-Key`, a request that is sent again is done once. Errors are problem+json (RFC 9457) with the codes and
hints of the command line.
"""
_IDEMPOTENCY_KEY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Sent again with the same key, a request is answered as it was the first time, and done once.",
    "schema": {"type": "string", "pattern": r"^[\x21-\x7e]{1,200}$"},
}
"""What every `POST` of an account takes; the door reads it."""


def document(app: FastAPI) -> dict[str, Any]:
    """The document of an application, made once."""
    if app.openapi_schema is None:
        app.openapi_schema = _made(app)
    return app.openapi_schema


def _made(app: FastAPI) -> dict[str, Any]:
    found = get_openapi(
        title="swarmgate",
        version=app.version,
        openapi_version="3.1.0",
        description=_ABOUT,
        routes=app.routes,
        tags=[{"name": name, "description": text} for name, text in _TAGS.items()],
        servers=[{"url": "/", "description": "This server."}],
    )
    components = found.setdefault("components", {})
    problem = Problem.model_json_schema(mode="serialization", ref_template="#/components/schemas/{model}")
    schemas = components.setdefault("schemas", {})
    schemas |= problem.pop("$defs", {})
    schemas["Problem"] = problem
    for unused in ("HTTPValidationError", "ValidationError"):
        schemas.pop(unused, None)
    components["securitySchemes"] = _SCHEMES
    found["paths"] = {path: each for path, each in found["paths"].items() if path.startswith(_PREFIX)}
    for path, operations in found["paths"].items():
        for method, operation in operations.items():
            open_to_all = (path, method) in _OPEN
            operation["security"] = [] if open_to_all else [{"token": []}]
            if method == "post" and not open_to_all:
                operation.setdefault("parameters", []).append(_IDEMPOTENCY_KEY)
            _tidy(operation)
    return found


def _tidy(operation: dict[str, Any]) -> None:
    """Leaves out of an operation what it cannot answer."""
    answers = operation["responses"]
    for status, answer in list(answers.items()):
        if MEDIA_TYPE in answer.get("content", {}):
            answer["content"] = {MEDIA_TYPE: answer["content"][MEDIA_TYPE]}
        if status in ("204", "304"):
            answer.pop("content", None)
