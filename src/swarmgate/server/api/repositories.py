"""Routes of registered repositories."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from swarmgate.server.api.answers import LOOK, MADE, told
from swarmgate.server.api.bodies import ChangedRepository, NewRepository
from swarmgate.server.api.parameters import After, Limit, RepoId
from swarmgate.server.api.routes import routes
from swarmgate.server.http.dependencies import ServicesOf, Who
from swarmgate.server.services.views.account import RepositoryView
from swarmgate.server.services.views.view import Page

router = routes("Repositories")


@router.get("/repos", response_model=Page[RepositoryView], responses=LOOK)
async def list_repositories(
    request: Request, services: ServicesOf, who: Who, after: After = "", limit: Limit = 100
) -> Response:
    """List the repositories that the account may see."""
    return told(request, await services.repositories.list(who, after=after, limit=limit))


@router.post("/repos", status_code=201, response_model=RepositoryView, responses=MADE)
async def register_repository(request: Request, services: ServicesOf, who: Who, body: NewRepository) -> Response:
    """Register a repository; the same source again gives what is there. It takes an admin of the whole server."""
    made = await services.repositories.register(who, source=body.source, name=body.name, id=body.id, base=body.base)
    return told(request, made, status=201, location=f"/v1/repos/{made.id}")


@router.get("/repos/{repo}", response_model=RepositoryView, responses=LOOK)
async def get_repository(request: Request, services: ServicesOf, who: Who, repo: RepoId) -> Response:
    """Look at a repository."""
    return told(request, await services.repositories.get(who, repo))


@router.patch("/repos/{repo}", response_model=RepositoryView)
async def change_repository(
    request: Request, services: ServicesOf, who: Who, repo: RepoId, body: ChangedRepository
) -> Response:
    """Change the name or the base branch of a repository."""
    return told(request, await services.repositories.update(who, repo, name=body.name, base=body.base))


@router.delete("/repos/{repo}", status_code=204)
async def remove_repository(services: ServicesOf, who: Who, repo: RepoId) -> None:
    """Forget a repository; nothing of it is deleted."""
    await services.repositories.remove(who, repo)
