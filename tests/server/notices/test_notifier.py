"""Who is told what, when, and never twice: the server with real receivers."""

from __future__ import annotations

import asyncio
import base64
import json
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import http_ece  # type: ignore[import-untyped]  # it has no stubs
import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from tests.server.notices.receiver import Receiver, receiving

from swarmgate.config import Server
from swarmgate.errors import UsageError
from swarmgate.server.accounts.accounts import Accounts
from swarmgate.server.accounts.model import Role
from swarmgate.server.events.feed import Feed
from swarmgate.server.notices.model import Notice
from swarmgate.server.notices.notifier import Notifier
from swarmgate.server.notices.subscriptions import Subscription, Subscriptions
from swarmgate.server.notices.vapid import NAME, VapidKeys
from swarmgate.server.store.opening import open_store


def notice(number: int, repo: str = "shop") -> Notice:
    return Notice(
        id=f"g-{number}",
        kind="approval",
        repo=repo,
        text=f"the plan waits {number}",
        title="JWT",
        path=f"/approvals/g-{number}",
    )


@dataclass
class Told:
    """A notifier over a feed and accounts of its own; `needs` is what waits."""

    home: Path
    accounts: Accounts
    feed: Feed
    needs: list[Notice] = field(default_factory=list)

    def notifier(self, *settings: Mapping[str, object], environ: dict[str, str] | None = None) -> Notifier:
        async def waiting() -> Sequence[Notice]:
            return tuple(self.needs)

        return Notifier(
            Server.model_validate({"notify": settings, "private_hosts": ["127.0.0.1"]}),
            environ or {},
            url="https://swarm.test",
            feed=self.feed,
            waiting=waiting,
            accounts=self.accounts.list,
            subscriptions=Subscriptions(self.home),
            keys=VapidKeys(self.home, "mailto:a@example.test"),
            delays=(0.01,),
            quiet_s=0.01,
        )

    def happened(self) -> None:
        self.feed.publish("run_ended", "the work ended", repo="shop")


@pytest.fixture
async def told(tmp_path: Path) -> AsyncIterator[Told]:
    settings = Server()
    store = open_store(settings, tmp_path, os.environ)
    made = Told(tmp_path, Accounts(tmp_path, settings), Feed(store, tmp_path))
    await made.feed.start()
    yield made
    await made.feed.close()
    await store.close()
    made.accounts.close()


async def arrived(receiver: Receiver, count: int) -> None:
    async with asyncio.timeout(90):
        while len(receiver.received) < count:  # noqa: ASYNC110 - the receiver is another thread
            await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)
    assert len(receiver.received) == count


async def test_what_waits_is_told_once_also_after_a_restart(told: Told) -> None:
    with receiving() as hook:
        told.needs = [notice(1)]
        setting = {"url": hook.url, "secret_env": "HOOK"}
        for _ in range(2):
            notifier = told.notifier(setting, environ={"HOOK": "geheim"})
            await notifier.start()
            await arrived(hook, 1)
            told.happened()
            await asyncio.sleep(0.1)
            await notifier.close()
        notifier = told.notifier(setting, environ={"HOOK": "geheim"})
        await notifier.start()
        told.needs.append(notice(2))
        told.happened()
        await arrived(hook, 2)
        await notifier.close()
    said = [json.loads(each.body)["data"] for each in hook.received]
    assert [each["id"] for each in said] == ["g-1", "g-2"]
    assert said[0]["url"] == "https://swarm.test/approvals/g-1"
    assert all(each.headers["webhook-signature"].startswith("v1,") for each in hook.received)
    assert b"geheim" not in hook.received[0].body


async def test_each_receiver_is_told_of_its_repositories_in_its_own_words(told: Told) -> None:
    with receiving() as hook, receiving() as slack:
        told.needs = [notice(1), notice(2, "other")]
        notifier = told.notifier(
            {"url": hook.url, "repos": ["other"]}, {"kind": "slack", "url_env": "SLACK"}, environ={"SLACK": slack.url}
        )
        await notifier.start()
        await arrived(hook, 1)
        await arrived(slack, 2)
        await notifier.close()
    assert json.loads(hook.received[0].body)["data"]["repo"] == "other"
    assert all("blocks" in json.loads(each.body) for each in slack.received)
    counted = told.feed.metrics.text().decode()
    assert 'swarmgate_notices_total{kind="slack",outcome="yes"} 2.0' in counted
    assert 'swarmgate_notices_total{kind="webhook",outcome="yes"} 1.0' in counted


async def test_without_the_secret_that_the_settings_name_nothing_goes_out(
    told: Told, caplog: pytest.LogCaptureFixture
) -> None:
    with receiving() as hook:
        told.needs = [notice(1)]
        notifier = told.notifier({"url": hook.url, "secret_env": "HOOK"}, {"url_env": "NOWHERE"})
        await notifier.start()
        await asyncio.sleep(0.2)
        await notifier.close()
    assert hook.received == []
    assert "HOOK" in caplog.text
    assert "NOWHERE" in caplog.text


async def test_a_receiver_that_fails_holds_nobody_up(told: Told) -> None:
    with receiving() as good:
        told.needs = [notice(1)]
        notifier = told.notifier({"url": "https://127.0.0.1:1"}, {"url": good.url})
        await notifier.start()
        await arrived(good, 1)
        await notifier.close()


# --- browsers ---


@dataclass
class Browser:
    """The keys that a browser makes, and what it can read with them."""

    key: ec.EllipticCurvePrivateKey = field(default_factory=lambda: ec.generate_private_key(ec.SECP256R1()))
    auth: bytes = b"0123456789abcdef"

    def subscription(self, account: str, endpoint: str) -> Subscription:
        point = self.key.public_key().public_bytes(
            serialization.Encoding.X962, serialization.PublicFormat.UncompressedPoint
        )
        p256dh, auth = (base64.urlsafe_b64encode(each).rstrip(b"=").decode() for each in (point, self.auth))
        return Subscription(account=account, endpoint=endpoint, p256dh=p256dh, auth=auth)

    def read(self, body: bytes) -> dict[str, str]:
        clear = http_ece.decrypt(body, private_key=self.key, auth_secret=self.auth, version="aes128gcm")
        said: dict[str, str] = json.loads(clear)
        return said


def subscribe(told: Told, subscription: Subscription, url: str) -> None:
    """As a browser whose push service is a receiver of ours, which has no TLS."""
    known = Subscriptions(told.home)
    known.add(subscription)
    with known._database.writing() as connection:
        connection.execute(
            "UPDATE push_subscriptions SET endpoint = ? WHERE endpoint = ?", (url, subscription.endpoint)
        )
    known.close()


async def test_a_browser_of_who_may_decide_reads_what_nobody_else_can(told: Told) -> None:
    ada = told.accounts.create("ada", roles={"shop": Role.APPROVER})
    bo = told.accounts.create("bo", roles={"*": Role.VIEWER})
    browser = Browser()
    with receiving() as service, receiving() as other:
        subscribe(told, browser.subscription(ada.id, "https://push.test/a"), f"{service.url}/a")
        subscribe(told, Browser().subscription(bo.id, "https://push.test/b"), f"{other.url}/b")
        told.needs = [notice(1), notice(2, "secret-repo")]
        notifier = told.notifier()
        await notifier.start()
        await arrived(service, 1)
        await notifier.close()
    assert other.received == []
    sent = service.received[0]
    assert b"waits" not in sent.body
    assert browser.read(sent.body) == {
        "title": "the plan waits 1",
        "body": "JWT",
        "path": "/approvals/g-1",
        "tag": "g-1",
    }
    assert sent.headers["authorization"].startswith("vapid t=")
    assert sent.headers["content-encoding"] == "aes128gcm"
    assert int(sent.headers["ttl"]) > 0


async def test_a_browser_that_is_gone_is_forgotten(told: Told) -> None:
    ada = told.accounts.create("ada", roles={"*": Role.ADMIN})
    with receiving() as service:
        service.answers = [(410, {})]
        subscribe(told, Browser().subscription(ada.id, "https://push.test/a"), service.url)
        told.needs = [notice(1)]
        notifier = told.notifier()
        await notifier.start()
        await arrived(service, 1)
        await notifier.close()
    known = Subscriptions(told.home)
    assert known.of(ada.id) == ()
    known.close()


async def test_browsers_go_with_their_account_and_the_oldest_make_room(told: Told) -> None:
    ada, bo = (told.accounts.create(name).id for name in ("ada", "bo"))
    known, browser = Subscriptions(told.home), Browser()
    for number in range(25):
        known.add(browser.subscription(ada, f"https://push.test/{number}"))
    assert [each.endpoint for each in known.of(ada)] == [f"https://push.test/{number}" for number in range(5, 25)]
    known.remove("https://push.test/24", account=bo)
    assert len(known.of(ada)) == 20
    known.remove("https://push.test/24", account=ada)
    assert len(known.of(ada)) == 19
    for endpoint in ("http://push.test/1", "https://a:b@push.test/1", "ftp://push.test", "push.test"):
        with pytest.raises(UsageError, match="https"):
            known.add(browser.subscription(ada, endpoint))
    told.accounts.create("cy", roles={"*": Role.ADMIN})
    told.accounts.delete(ada)
    assert known.of(ada) == ()
    known.close()


def test_the_keys_of_a_server_stay_its_own(tmp_path: Path) -> None:
    one = VapidKeys(tmp_path, "mailto:a@example.test")
    assert VapidKeys(tmp_path, "mailto:a@example.test").public == one.public
    assert (tmp_path / NAME).stat().st_mode & 0o777 == 0o600
    assert len(base64.urlsafe_b64decode(one.public + "=")) == 65
    claims = one.headers("https://push.test:8443/abc?d", 1000)["Authorization"].split("t=")[1].split(".")[1]
    said = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
    assert (said["aud"], said["exp"] > 1000) == ("https://push.test:8443", True)
