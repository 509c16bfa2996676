from __future__ import annotations

from collections.abc import Callable

import httpx

from swarmgate.server.accounts.model import Role


def test_a_server_that_has_begun_is_well_and_ready(anybody: httpx.Client) -> None:
    assert anybody.get("/healthz").json() == {"status": "ok"}
    assert anybody.get("/readyz").json() == {"status": "ready"}


def test_metrics_are_for_those_who_may_look_at_everything(
    anybody: httpx.Client, admin: httpx.Client, account: Callable[..., httpx.Client]
) -> None:
    assert anybody.get("/metrics").status_code == 401
    assert account("bob", Role.ADMIN, "shop").get("/metrics").status_code == 403
    admin.get("/healthz")
    answer = admin.get("/metrics")
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    assert 'swarmgate_http_requests_total{method="GET",route="/healthz",status="200"} 1.0' in answer.text
    assert "swl_" not in answer.text
