"""Whether endpoints can be reached: over real sockets, and without a single chat request."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socket import socket
from typing import Any

import pytest

from swarmgate.config import Config
from swarmgate.errors import ConfigError
from swarmgate.llm.reach import reach
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


@pytest.mark.parametrize("status", [400, 404, 405, 429, 501])
async def test_one_that_answers_and_lists_no_models_is_reached(status: int) -> None:
    with answering(status) as url:
        found = await reach(["local/a"], settings(local=url), {})
    assert found[0].problem == ""
    assert "answers" in found[0].answered


@pytest.mark.parametrize("body", [b"", b"<html>ok</html>", b'{"data": "no list"}', b"[[[", b"\xff\xfe"])
async def test_what_it_lists_does_not_matter(body: bytes) -> None:
    with answering(200, body) as url:
        found = await reach(["local/a"], settings(local=url), {})
    assert found[0].problem == ""


@pytest.mark.parametrize(
    ("status", "word", "hint"),
    [(401, "refuses the key", "THE_KEY"), (403, "key", "THE_KEY"), (402, "paid", "account"), (503, "503", "later")],
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
    assert mute.seconds < 2


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
