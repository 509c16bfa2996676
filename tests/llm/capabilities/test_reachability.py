"""Whether endpoints can be reached: over real sockets, and without a single chat request."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import socket
from typing import Any

import pytest

from swarmgate.config import Config
from swarmgate.errors import ConfigError
from swarmgate.llm.capabilities.reachability import READ_BYTES, reach
from swarmgate.testing import ScriptedServer


@contextmanager
def answering(status: int, body: bytes = b"{}", *, seen: list[dict[str, str]] | None = None) -> Iterator[str]:
    """An endpoint that answers every GET like this."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if seen is not None:
                seen.append({"path": self.path, **{key.lower(): value for key, value in self.headers.items()}})
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", "https://127.0.0.1:9/elsewhere")
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


def settings(**urls: str | dict[str, Any]) -> Config:
    tables = {name: {"base_url": url} if isinstance(url, str) else url for name, url in urls.items()}
    return Config.model_validate({"providers": tables})


async def test_an_endpoint_that_answers_is_reached_and_no_token_is_spent() -> None:
    with ScriptedServer([]) as server:
        found = await reach(["local/a", "local/b", "command:claude -p"], settings(local=server.base_url), {})
        assert server.requests == []
    assert [(each.provider, each.problem) for each in found] == [("local", "")]
    assert found[0].answered == "lists its models"
    assert found[0].seconds > 0


@pytest.mark.parametrize("status", [400, 404, 405, 418, 429, 501])
async def test_one_that_answers_and_lists_no_models_is_reached(status: int) -> None:
    with answering(status) as url:
        found = await reach(["local/a"], settings(local=url), {})
    assert found[0].problem == ""
    assert "answers" in found[0].answered


@pytest.mark.parametrize("body", [b'{"data": [{"id": "a"}]}', b'{"models": []}', b"[]", b'{"data": [' + b"1," * 99_999])
async def test_a_list_of_models_is_known_by_its_shape(body: bytes) -> None:
    with answering(200, body) as url:
        found = await reach(["local/a"], settings(local=url), {})
    assert (found[0].answered, found[0].problem) == ("lists its models", "")


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>ok</html>", b'{"data": "no list"}', b'{"error": {"message": "no"}}', b"[[[", b"[" * 60_000,
     b"\xff\xfe", b"<" * 99_999],
)  # fmt: skip
async def test_what_is_no_list_is_told_and_stops_nothing(body: bytes) -> None:
    with answering(200, body) as url:
        found = await reach(["local/a"], settings(local=url), {})
    assert "not with a list of models: is /v1 missing?" in found[0].answered
    assert "[providers.local] base_url" in found[0].answered
    assert found[0].problem == ""


@contextmanager
def talking(first: bytes, again: bytes, *, pause_s: float = 0.0) -> Iterator[tuple[str, list[int]]]:
    """An endpoint that never comes to an end, and how many bytes it got rid of."""
    sent, over = [0], threading.Event()

    def serve(listener: socket) -> None:
        with suppress(OSError), listener.accept()[0] as peer:
            peer.recv(4096)
            peer.sendall(first)
            while not over.is_set():
                peer.sendall(again)
                sent[0] += len(again)
                over.wait(pause_s)

    with socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        thread = threading.Thread(target=serve, args=(listener,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1", sent
        over.set()
        thread.join(5)


async def test_of_an_endless_answer_no_more_is_read_than_is_needed() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n" + b'{"data": ['
    with talking(head, b"1," * 5_000) as (url, sent):
        found = await reach(["local/a"], settings(local=url), {}, timeout_s=60)
    assert found[0].answered == "lists its models"
    assert found[0].seconds < 30
    assert sent[0] < 100 * READ_BYTES  # the rest stood in the buffers of the system


async def test_of_a_refusal_the_body_is_not_read() -> None:
    with talking(b"HTTP/1.1 500 Oh\r\n\r\n", b"x" * 5_000) as (url, _):
        found = await reach(["local/a"], settings(local=url), {}, timeout_s=60)
    assert "answers 500" in found[0].problem
    assert found[0].seconds < 30


async def test_who_answers_in_drops_is_left_at_the_time_limit() -> None:
    with talking(b"HTTP/1.1 200 OK\r\n", b"X-Drop: 1\r\n", pause_s=0.05) as (url, _):
        found = await reach(["local/a"], settings(local=url), {}, timeout_s=0.4)
    assert "no answer within 0.4 s" in found[0].problem
    assert found[0].seconds < 30


async def test_a_key_that_comes_back_in_an_error_is_masked() -> None:
    key = "secret-value-1234"
    with talking(b"HTTP/1.1 " + key.encode() + b"\r\n\r\n", b"", pause_s=0.05) as (url, _):
        config = settings(local={"base_url": url, "api_key_env": "THE_KEY"})
        found = await reach(["local/a"], config, {"THE_KEY": key}, timeout_s=60)
    assert "the connection failed" in found[0].problem
    assert "[redacted]" in found[0].problem
    assert key not in str(found)


@pytest.mark.parametrize(
    ("status", "word", "hint"),
    [
        (401, "refuses the key", "THE_KEY"),
        (403, "key", "THE_KEY"),
        (402, "paid", "account"),
        (500, "500", "later"),
        (503, "503", "later"),
        (407, "proxy", "base_url"),
        (410, "gone", "base_url"),
        (421, "not made", "base_url"),
        (451, "legal", "base_url"),
    ],
)
async def test_what_is_wrong_is_said_with_what_to_do(status: int, word: str, hint: str) -> None:
    with answering(status) as url:
        config = settings(local={"base_url": url, "api_key_env": "THE_KEY"})
        found = await reach(["local/a"], config, {"THE_KEY": "secret-value-1234"})
    assert word in found[0].problem
    assert hint in found[0].hint
    assert "secret-value" not in str(found)


async def test_a_refused_connection_and_silence_are_told_within_the_time_limit() -> None:
    with socket() as free, socket() as silent:
        free.bind(("127.0.0.1", 0))
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        config = settings(
            down=f"http://127.0.0.1:{free.getsockname()[1]}/v1", mute=f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        )
        down, mute = await reach(["down/a", "mute/a"], config, {}, timeout_s=0.3)
    assert "the connection failed" in down.problem
    assert "[providers.down]" in down.hint
    assert "no answer within 0.3 s" in mute.problem
    assert mute.seconds < 30


async def test_the_key_is_sent_where_the_settings_name_it_and_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-for-this-endpoint")
    monkeypatch.setenv("OPENAI_ORG_ID", "nor-this")
    seen: list[dict[str, str]] = []
    with answering(200, seen=seen) as url:
        keyed = {"base_url": url, "api_key_env": "THE_KEY", "headers": {"X-Title": "ours"}}
        await reach(["open/a", "keyed/a"], settings(open=url, keyed=keyed), {"THE_KEY": " secret-value-1234 "})
    by_title = {each.get("x-title", ""): each for each in seen}
    assert {each["path"] for each in seen} == {"/v1/models"}
    assert by_title["ours"]["authorization"] == "Bearer secret-value-1234"
    assert "authorization" not in by_title[""]
    assert not any("openai-organization" in each for each in seen)


@pytest.mark.parametrize(("value", "word"), [(None, "is not set"), ("", "is not set"), ("schlüssel", "no usable key")])
async def test_without_its_key_an_endpoint_is_not_asked(value: str | None, word: str) -> None:
    seen: list[dict[str, str]] = []
    with answering(200, seen=seen) as url:
        config = settings(local={"base_url": url, "api_key_env": "THE_KEY"})
        found = await reach(["local/a"], config, {} if value is None else {"THE_KEY": value})
    assert word in found[0].problem
    assert seen == []


async def test_a_redirect_is_not_followed_and_calls_would_not_follow_it_either() -> None:
    with answering(302) as url:
        found = await reach(["local/a"], settings(local=url), {})
    assert "redirects elsewhere (302)" in found[0].problem


async def test_a_provider_that_is_not_there_is_an_error_of_the_settings() -> None:
    with pytest.raises(ConfigError):
        await reach(["nobody/a"], settings(), {})
