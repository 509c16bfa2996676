from __future__ import annotations

import httpx


def test_a_server_that_has_begun_is_well_and_ready(anybody: httpx.Client) -> None:
    assert anybody.get("/healthz").json() == {"status": "ok"}
    assert anybody.get("/readyz").json() == {"status": "ready"}
