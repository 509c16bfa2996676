"""A message is tried again where that may help, and given up where it cannot."""

from __future__ import annotations

import logging

import pytest
from tests.server.notices.receiver import Receiver, receiving

from swarmgate.server.notices.delivery import Delivered, deliver
from swarmgate.server.notices.guarded_client import guarded_client


async def delivered(
    told: Receiver, *, path: str = "/", delays: tuple[float, ...] = (0.1, 0.2)
) -> tuple[Delivered, list[float]]:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    async with guarded_client(["127.0.0.1"]) as client:
        found = await deliver(
            client, told.url + path, b"said", lambda: {"x-a": str(len(slept))}, delays=delays, sleep=sleep
        )
    return found, slept


@pytest.mark.parametrize("status", [500, 502, 503, 429, 408, 425])
async def test_what_may_be_over_soon_is_tried_again_with_headers_of_its_own(status: int) -> None:
    with receiving() as told:
        told.answers = [(status, {}), (status, {})]
        found, slept = await delivered(told)
    assert found is Delivered.YES
    assert [each.headers["x-a"] for each in told.received] == ["0", "1", "2"]
    assert [each.body for each in told.received] == [b"said"] * 3
    assert 0.08 < slept[0] < 0.12
    assert 0.17 < slept[1] < 0.23


async def test_attempts_end(caplog: pytest.LogCaptureFixture) -> None:
    with receiving() as told:
        told.answers = [(500, {})] * 9
        found, _ = await delivered(told, path="/secret-in-the-path")
    assert found is Delivered.NO
    assert len(told.received) == 3
    assert "did not take a notice in 3 attempts: 500" in caplog.text
    assert "secret" not in caplog.text


@pytest.mark.parametrize(
    ("status", "found"),
    [(400, Delivered.NO), (403, Delivered.NO), (404, Delivered.GONE), (410, Delivered.GONE), (301, Delivered.NO)],
)
async def test_a_refusal_is_final(status: int, found: Delivered) -> None:
    with receiving() as told:
        told.answers = [(status, {"location": "http://127.0.0.1:1/"})]
        assert await delivered(told) == (found, [])
    assert len(told.received) == 1


@pytest.mark.parametrize(("asked", "waits"), [("7", 7.0), ("100000", 900.0), ("soon", 0.1)])
async def test_a_receiver_can_ask_for_a_pause(asked: str, waits: float) -> None:
    with receiving() as told:
        told.answers = [(429, {"retry-after": asked})]
        found, slept = await delivered(told)
    assert found is Delivered.YES
    assert slept[0] == pytest.approx(waits, rel=0.2)


async def test_nobody_there_is_tried_again_and_an_address_within_is_not(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    found, slept = await delivered(Receiver(url="http://127.0.0.1:1"))
    assert (found, len(slept)) == (Delivered.NO, 2)
    assert await delivered(Receiver(url="https://10.0.0.1")) == (Delivered.NO, [])
    assert "10.0.0.1 is on an address" in caplog.text
