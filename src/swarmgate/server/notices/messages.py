"""Words a notice for each channel: a signed webhook, a message as Slack takes it, a push message of a browser."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json

from swarmgate.domain.text.printable import printable
from swarmgate.server.notices.model import Notice

_SHORT = 300
"""Characters of a text in a message: a push message holds 4 KB, and a page has the whole."""
_SECRET_PREFIX = "whsec_"  # noqa: S105 - what such a secret begins with
_ESCAPES = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})
"""As Slack asks for it; nothing in a text mentions a channel or makes a link then."""


def _short(text: str) -> str:
    clean = " ".join(printable(text).split())
    return clean if len(clean) <= _SHORT else f"{clean[: _SHORT - 1]}…"


def webhook_body(notice: Notice, url: str) -> bytes:
    """The notice as JSON with all its fields; `url` is that of the page where it is decided."""
    said = {"type": "needs_me", "timestamp": notice.since, "data": {**notice.model_dump(mode="json"), "url": url}}
    return json.dumps(said, ensure_ascii=False).encode("utf-8", "replace")


def webhook_headers(notice: Notice, body: bytes, secret: str, now: int) -> dict[str, str]:
    """The headers of a webhook as standardwebhooks.com has them: id, time, and where there is a secret the signature.

    Args:
        notice: what is told.
        body: as it is sent.
        secret: by which it is signed, HMAC-SHA256; `whsec_` and base64, or any text. Empty: unsigned.
        now: seconds since 1970; who receives it refuses old ones.
    """
    headers = {"content-type": "application/json", "webhook-id": notice.id, "webhook-timestamp": str(now)}
    if secret:
        signed = hmac.new(_key(secret), f"{notice.id}.{now}.".encode() + body, hashlib.sha256).digest()
        headers["webhook-signature"] = f"v1,{base64.b64encode(signed).decode()}"
    return headers


def _key(secret: str) -> bytes:
    if secret.startswith(_SECRET_PREFIX):
        return base64.b64decode(secret.removeprefix(_SECRET_PREFIX))
    return secret.encode()


def slack_body(notice: Notice, url: str) -> bytes:
    """The notice as an incoming webhook of Slack, Mattermost or Rocket.Chat takes it."""
    title, text = (_short(each).translate(_ESCAPES) for each in (notice.title or notice.goal, notice.text))
    repo = _short(notice.repo).translate(_ESCAPES)
    blocks = [
        {"type": "section", "text": {"type": "mrkdwn", "text": f"*{text}*\n{title} ({repo})"}},
        {
            "type": "actions",
            "elements": [{"type": "button", "text": {"type": "plain_text", "text": "Decide it"}, "url": url}],
        },
    ]
    said = {"text": f"{text} - {title} ({repo}): {url}", "blocks": blocks}
    return json.dumps(said, ensure_ascii=False).encode("utf-8", "replace")


def push_body(notice: Notice) -> bytes:
    """The notice as the service worker of the pages shows it."""
    said = {"title": _short(notice.text), "body": _short(notice.title), "path": notice.path, "tag": notice.id}
    return json.dumps(said, ensure_ascii=False).encode("utf-8", "replace")
