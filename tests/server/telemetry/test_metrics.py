from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from types import SimpleNamespace
from typing import Any

import pytest

from swarmgate.server.telemetry.measured import Measured
from swarmgate.server.telemetry.metrics import Metrics


async def _ask(app: Any, scope: dict[str, Any]) -> None:
    async def receive() -> MutableMapping[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(_message: MutableMapping[str, Any]) -> None:
        return

    await app(scope, receive, send)


def _answering(status: int) -> Callable[..., Awaitable[None]]:
    async def app(scope: MutableMapping[str, Any], _receive: Any, send: Any) -> None:
        scope["route"] = SimpleNamespace(path="/v1/goals/{goal}")
        await send({"type": "http.response.start", "status": status, "headers": []})

    return app


async def test_a_request_is_counted_by_the_template_of_its_route() -> None:
    metrics = Metrics()
    for goal in ("g-1", "g-2"):
        await _ask(Measured(_answering(200), metrics), {"type": "http", "method": "GET", "path": f"/v1/goals/{goal}"})
    text = metrics.text().decode()
    assert 'swarmgate_http_requests_total{method="GET",route="/v1/goals/{goal}",status="200"} 2.0' in text
    assert 'swarmgate_http_request_seconds_count{route="/v1/goals/{goal}"} 2.0' in text
    assert "process_resident_memory_bytes" in text


async def test_what_breaks_is_counted_as_what_it_is_answered_with() -> None:
    async def broken(*_: Any) -> None:
        raise OSError("the disk is gone")

    metrics = Metrics()
    with pytest.raises(OSError, match="disk"):
        await _ask(Measured(broken, metrics), {"type": "http", "method": "POST", "path": "/x"})
    assert 'swarmgate_http_requests_total{method="POST",route="other",status="500"} 1.0' in metrics.text().decode()


def test_a_gauge_is_read_when_somebody_asks() -> None:
    metrics, now = Metrics(), {"waiting": 1.0}
    metrics.measure("goals", "Goals by state", "state", lambda: now)
    assert 'swarmgate_goals{state="waiting"} 1.0' in metrics.text().decode()
    now["waiting"] = 3.0
    assert 'swarmgate_goals{state="waiting"} 3.0' in metrics.text().decode()
