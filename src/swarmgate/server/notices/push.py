"""Sends a notice to a browser that asked for it (Web Push, RFC 8030), encrypted so that nobody else can read it."""

from __future__ import annotations

import time

import httpx

from swarmgate.server.notices.delivery import DELAYS_S, Delivered, deliver
from swarmgate.server.notices.messages import push_body
from swarmgate.server.notices.model import Notice
from swarmgate.server.notices.subscriptions import Subscription
from swarmgate.server.notices.vapid import VapidKeys

_KEPT_S = 24 * 3600
"""Seconds that a push service keeps a message for a browser that is away."""


async def push(
    client: httpx.AsyncClient,
    keys: VapidKeys,
    to: Subscription,
    notice: Notice,
    *,
    delays: tuple[float, ...] = DELAYS_S,
) -> Delivered:
    """Sends it, as `deliver` does; `GONE` says that the browser does not want to be told any more."""
    from pywebpush import WebPusher  # type: ignore[import-untyped]  # noqa: PLC0415 - late: it brings two HTTP clients

    keyed = {"endpoint": to.endpoint, "keys": {"p256dh": to.p256dh, "auth": to.auth}}
    body = bytes(WebPusher(keyed).encode(push_body(notice))["body"])

    def headers() -> dict[str, str]:
        signed = keys.headers(to.endpoint, time.time())
        return {**signed, "content-encoding": "aes128gcm", "ttl": str(_KEPT_S), "urgency": "high"}

    return await deliver(client, to.endpoint, body, headers, delays=delays)
