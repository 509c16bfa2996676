"""What a notice says on each channel, and by what its receiver knows that it is ours."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json

import pytest

from swarmgate.server.notices.messages import push_body, slack_body, webhook_body, webhook_headers
from swarmgate.server.notices.model import Notice

NOTICE = Notice(
    id="g-0123456789ab-plan-7",
    kind="approval",
    repo="shop",
    goal="g-0123456789ab",
    title="JWT auth",
    text="The plan waits for approval",
    path="/approvals/g-0123456789ab-plan-7",
    since="2026-05-03T10:00:00+00:00",
)
PAGE = "https://swarm.example.org/approvals/g-0123456789ab-plan-7"


def test_a_webhook_has_all_fields() -> None:
    said = json.loads(webhook_body(NOTICE, PAGE))
    assert said == {
        "type": "needs_me",
        "timestamp": "2026-05-03T10:00:00+00:00",
        "data": {**NOTICE.model_dump(), "url": PAGE},
    }


@pytest.mark.parametrize(
    ("secret", "key"),
    [("whsec_" + base64.b64encode(b"k" * 24).decode(), b"k" * 24), ("plain text", b"plain text")],
)
def test_a_webhook_is_signed_as_the_standard_says(secret: str, key: bytes) -> None:
    headers = webhook_headers(NOTICE, b'{"a":1}', secret, 1_700_000_000)
    wanted = hmac.new(key, b'g-0123456789ab-plan-7.1700000000.{"a":1}', hashlib.sha256).digest()
    assert headers["webhook-signature"] == f"v1,{base64.b64encode(wanted).decode()}"
    assert headers["webhook-id"] == NOTICE.id
    assert headers["webhook-timestamp"] == "1700000000"


def test_the_signature_is_of_this_body_this_time_and_this_secret() -> None:
    one = webhook_headers(NOTICE, b"a", "s", 1)["webhook-signature"]
    others = [
        webhook_headers(NOTICE, *rest)["webhook-signature"] for rest in ((b"b", "s", 1), (b"a", "t", 1), (b"a", "s", 2))
    ]
    assert one not in others


def test_without_a_secret_nothing_claims_to_be_signed() -> None:
    assert "webhook-signature" not in webhook_headers(NOTICE, b"a", "", 1)


def test_nothing_in_a_text_mentions_a_channel_or_makes_a_link_in_slack() -> None:
    hostile = NOTICE.model_copy(update={"text": "<!channel> see <https://evil.test|this> & that", "title": "<@U1>"})
    said = json.loads(slack_body(hostile, PAGE))
    shown = said["text"] + said["blocks"][0]["text"]["text"]
    assert "<" not in shown
    assert "&lt;!channel&gt; see &lt;https://evil.test|this&gt; &amp; that" in shown
    assert said["blocks"][1]["elements"][0]["url"] == PAGE


def test_a_push_message_is_short_and_steers_nothing() -> None:
    said = json.loads(push_body(NOTICE.model_copy(update={"text": "a\u202e\x1b[31m " + "long " * 2000})))
    assert len(push_body(NOTICE.model_copy(update={"text": "ü" * 5000, "title": "ü" * 5000}))) < 3900
    assert said["title"].startswith("a\ufffd")
    assert said["title"].endswith("…")
    assert said["path"] == NOTICE.path
