"""What routes ask for: the services, and who asks. FastAPI gives both to the parameters that are annotated so.

@router.get("/v1/goals")
async def goals(services: ServicesOf, who: Who) -> Page[GoalView]: ...
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, cast

from fastapi import Depends
from starlette.requests import HTTPConnection

from swarmgate.errors import SwarmError, Unauthenticated
from swarmgate.server.accounts.model import Principal

if TYPE_CHECKING:
    from swarmgate.server.services.services import Services
else:
    Services = Any  # FastAPI reads annotations at run time and only wants the dependency


def services_of(connection: HTTPConnection) -> Services:
    """The services of the server that was asked."""
    return cast("Services", connection.app.state.services)


def principal_of(connection: HTTPConnection) -> Principal | None:
    """Who asks; None: nobody that is known."""
    found = connection.scope.get("state", {}).get("principal")
    return found if isinstance(found, Principal) else None


def current_principal(connection: HTTPConnection) -> Principal:
    """Who asks.

    Raises:
        Unauthenticated: nothing proves that it is somebody, or what should is over, revoked or wrong.
    """
    found = principal_of(connection)
    if found is None:
        refused = connection.scope.get("state", {}).get("refused")
        raise refused if isinstance(refused, SwarmError) else Unauthenticated("Nothing says who asks.", hint="log in")
    return found


def token_of(connection: HTTPConnection) -> str:
    """What an `Idempotency-Key` makes of a request, so that what it begins is found when it comes again; else empty."""
    return str(connection.scope.get("state", {}).get("token", ""))


async def _token(connection: HTTPConnection) -> str:
    return token_of(connection)


async def _services(connection: HTTPConnection) -> Services:
    return services_of(connection)


async def _principal(connection: HTTPConnection) -> Principal:
    return current_principal(connection)


# Asynchronous: FastAPI gives every other dependency a thread of its own, which takes ten times as long as the rest.
ServicesOf = Annotated[Services, Depends(_services)]
"""The services, as the parameter of a route."""
Token = Annotated[str, Depends(_token)]
"""What tells a request that comes again under its `Idempotency-Key` from others; empty: it brings none."""
Who = Annotated[Principal, Depends(_principal)]
"""Who asks, as the parameter of a route; a request of nobody is answered 401."""
