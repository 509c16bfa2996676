"""Routes of accounts, for admins."""

from __future__ import annotations

from fastapi import Request
from starlette.responses import Response

from swarmgate.server.accounts.model import Account, AuditEntry
from swarmgate.server.api.answers import LOOK, MADE, secret, told
from swarmgate.server.api.bodies import ChangedAccount, NewAccount
from swarmgate.server.api.parameters import AccountId, After, AfterNumber, Limit
from swarmgate.server.api.routes import routes
from swarmgate.server.http.dependencies import ServicesOf, Who
from swarmgate.server.services.views.account import LinkView
from swarmgate.server.services.views.view import Page

router = routes("Accounts")


@router.get("/accounts", response_model=Page[Account], responses=LOOK)
async def list_accounts(
    request: Request, services: ServicesOf, who: Who, after: After = "", limit: Limit = 100
) -> Response:
    """List all accounts by name."""
    return told(request, await services.accounts.list(who, after=after, limit=limit))


@router.post("/accounts", status_code=201, responses=MADE)
async def create_account(response: Response, services: ServicesOf, who: Who, body: NewAccount) -> Account:
    """Make an account."""
    made = await services.accounts.create(who, name=body.name, roles=body.roles, password=body.password)
    response.headers["Location"] = f"/v1/accounts/{made.id}"
    return made


@router.get("/accounts/{account}")
async def get_account(services: ServicesOf, who: Who, account: AccountId) -> Account:
    """Look at an account; everybody may look at their own."""
    return await services.accounts.get(who, account)


@router.patch("/accounts/{account}")
async def change_account(services: ServicesOf, who: Who, account: AccountId, body: ChangedAccount) -> Account:
    """Change name or roles, disable or enable an account; a disabled one is logged out everywhere."""
    return await services.accounts.update(who, account, name=body.name, roles=body.roles, disabled=body.disabled)


@router.delete("/accounts/{account}", status_code=204)
async def delete_account(services: ServicesOf, who: Who, account: AccountId) -> None:
    """Delete an account with its sessions and keys; ledgers keep its name."""
    await services.accounts.delete(who, account)


@router.post("/accounts/{account}/login-link", status_code=201, response_model=LinkView)
async def create_login_link(services: ServicesOf, who: Who, account: AccountId) -> Response:
    """Make a link with which somebody logs in, once and soon."""
    return secret(await services.accounts.login_link(who, account), status=201)


@router.get("/audit", response_model=Page[AuditEntry], responses=LOOK)
async def list_audit(
    request: Request, services: ServicesOf, who: Who, after: AfterNumber = "", limit: Limit = 100
) -> Response:
    """Read who did what to accounts and keys, oldest first."""
    return told(request, await services.accounts.audit(who, after=after, limit=limit))
