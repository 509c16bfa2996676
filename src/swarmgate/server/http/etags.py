"""`ETag`, `If-Match` and `If-None-Match`: the version of what is shown is the seq of its ledger."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import Depends, Header, Request, Response

from swarmgate.errors import BadRequest, Stale

_TAG = re.compile(r'"(\d{1,15})(?:-[0-9a-f]{16})?"')
"""The position of a ledger, perhaps with the digest of what was told of it."""


_DOCUMENTED = r'^("[0-9]{1,15}(-[0-9a-f]{16})?"|\*)$'
"""The same as the document of the interface has it; what is of another form is told in words of its own."""


def etag(seq: int) -> str:
    """The tag of a version."""
    return f'"{seq}"'


async def if_match(
    request: Request,
    if_match: Annotated[
        str | None,
        Header(
            description="The ETag that was decided about: an answer 412 says that it moved on.",
            json_schema_extra={"pattern": _DOCUMENTED},
        ),
    ] = None,
) -> int | None:
    """The version that a request was decided about; None: it does not say, or says that any will do.

    Raises:
        BadRequest: it is no tag of this server.
    """
    said = if_match if if_match is not None else request.headers.get("if-match")  # an empty one is no default
    if said is None or said.strip() == "*":
        return None
    found = _TAG.fullmatch(said.strip())
    if found is None:
        raise BadRequest("If-Match is no ETag of this server.", hint='give back what ETag said, such as "42"')
    return int(found[1])


IfMatch = Annotated[int | None, Depends(if_match)]
"""The version that a request was decided about, as the parameter of a route."""


def require_current(decided: int | None, seq: int) -> None:
    """Insists that what was decided about is still so.

    Raises:
        Stale: it moved on.
    """
    if decided is not None and decided != seq:
        raise Stale(f"It is at {seq}, and was looked at when it was at {decided}.", seq=seq, hint="look at it again")


def not_modified(request: Request, response: Response, seq: int) -> bool:
    """Puts the tag of a version on an answer; whether the client has that version already, so that 304 says it all."""
    response.headers["ETag"] = etag(seq)
    known = {each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")}
    return etag(seq) in known
