"""All layers together, from the configuration to the socket."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from swarmgate.config import Config
from swarmgate.errors import ConfigError, EndpointFailed, MissingRequirement
from swarmgate.llm.budget import Budget
from swarmgate.llm.connect import check_keys, connect, same_model_warning
from swarmgate.llm.events import FellBack, ModelEvent, Retrying
from swarmgate.llm.model import Message, ModelRequest
from swarmgate.llm.wrappers.trace import Exchange
from swarmgate.testing import ScriptedServer

ASK = ModelRequest(
    messages=(Message(role="system", content="s"), Message(role="user", content="ROLE: coder\n\nMY-KEY-VALUE")),
    purpose={"role": "coder"},
)


def config(base_url: str = "http://127.0.0.1:9/v1", **more: Any) -> Config:
    provider = {"base_url": base_url, "api_key_env": "MY_KEY", "max_retries": 1}
    roles = {"default": {"model": "local/one", "fallback": ["local/two"]}}
    return Config.model_validate({"providers": {"local": provider}, "roles": roles} | more)


class Kept(list[Exchange]):
    def record(self, exchange: Exchange) -> None:
        self.append(exchange)


async def no_wait(_seconds: float) -> None:
    pass


def connected(settings: Config, told: list[ModelEvent], kept: Kept) -> Any:
    return connect(
        "coder",
        settings,
        environ={"MY_KEY": " MY-KEY-VALUE\n"},
        recorder=kept,
        budget=Budget(),
        on_event=told.append,
        sleep=no_wait,
    )


async def test_retry_fallback_trace_and_meter_work_together() -> None:
    told, kept = list[ModelEvent](), Kept()
    script = [
        {"match": {"model": "one"}, "replies": [{"fault": {"kind": "500"}}]},
        {"match": {"model": "two"}, "replies": [{"text": "hello"}]},
    ]
    prices = {"local/two": {"input": 1_000_000, "output": 0}}
    with ScriptedServer(script) as server:
        model = connected(config(server.base_url, prices=prices), told, kept)
        reply = await model.complete(ASK)
        await model.aclose()
    assert (reply.text, reply.model, model.name, model.role) == ("hello", "local/two", "local/one", "coder")
    assert [type(event) for event in told] == [Retrying, FellBack]
    assert [bool(exchange.error) for exchange in kept] == [True, True, False]
    assert kept[0].messages[1].content.endswith("[redacted]")
    assert server.requests[0].http_headers["authorization"] == "Bearer MY-KEY-VALUE"
    assert model.drain()["local/two"].usd == reply.usage.prompt_tokens


async def test_all_used_up_ends_with_exit_5_and_every_model_named() -> None:
    with ScriptedServer([{"replies": [{"fault": {"kind": "429"}}]}]) as server:
        model = connected(config(server.base_url), [], Kept())
        with pytest.raises(EndpointFailed) as caught:
            await model.complete(ASK)
        await model.aclose()
    assert caught.value.exit_code == 5
    for name in ("local/one", "local/two"):
        assert f"{name}: the endpoint answered 429: the script says 429 (tried 2 times)" in caught.value.message


async def test_a_hole_in_the_script_is_told_at_once() -> None:
    with ScriptedServer([{"match": {"role": "sme"}, "replies": [{"text": "x"}]}]) as server:
        model = connected(config(server.base_url, roles={"default": {"model": "local/one"}}), [], Kept())
        with pytest.raises(EndpointFailed, match="no rule of the script fits"):
            await model.complete(ASK)
        await model.aclose()
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("environ", "what"), [({}, "is not set"), ({"MY_KEY": " "}, "is not set"), ({"MY_KEY": "ä"}, "AS")]
)
def test_a_missing_key_names_variable_provider_role_and_file(environ: dict[str, str], what: str) -> None:
    for check in (
        lambda: check_keys(config(), environ, roles=["architect", "coder", "reviewer"]),
        lambda: connect("architect", config(), environ=environ, recorder=None, budget=Budget()),
    ):
        with pytest.raises(MissingRequirement, match=what) as caught:
            check()
        assert caught.value.exit_code == 6
        for word in ("MY_KEY", "`local`", "`architect`", ".swarm/config.toml"):
            assert word in caught.value.message


def test_keys_are_checked_for_fallbacks_and_only_where_one_is_needed() -> None:
    providers = {"a": {"base_url": "http://x"}, "b": {"base_url": "http://y", "api_key_env": "B_KEY"}}
    roles = {"default": {"model": "a/m"}, "sme": {"model": "a/m", "fallback": ["b/m"]}}
    settings = Config.model_validate({"providers": providers, "roles": roles})
    with pytest.raises(MissingRequirement, match="B_KEY"):
        check_keys(settings, {}, roles=["sme"])
    check_keys(settings, {}, roles=["coder"])
    check_keys(settings, {"B_KEY": "k"}, roles=["architect", "coder", "reviewer"])


def test_a_role_without_a_model_is_told_with_the_snippet_to_add() -> None:
    with pytest.raises(ConfigError, match="no model is set for the role `architect`") as caught:
        check_keys(Config(), {}, roles=["architect", "coder", "reviewer"])
    assert '[roles.default]\nmodel = "' in caught.value.hint


def test_coder_and_reviewer_of_the_same_model_are_warned_about() -> None:
    assert "local/one" in same_model_warning(config())
    roles = {"default": {"model": "local/one"}, "reviewer": {"model": "local/two"}}
    assert same_model_warning(config(roles=roles)) == ""
    roles = {"default": {"model": "local/gpt-4o"}, "reviewer": {"model": "local/openai/gpt-4o-2024-08-06"}}
    assert "the same model (local/gpt-4o, local/openai/gpt-4o-2024-08-06)" in same_model_warning(config(roles=roles))


def test_coder_and_reviewer_of_one_family_are_noted() -> None:
    roles = {"default": {"model": "local/gpt-4o"}, "reviewer": {"model": "local/gpt-5"}}
    told = same_model_warning(config(roles=roles))
    assert "one family (gpt: local/gpt-4o, local/gpt-5)" in told
    assert "same model" not in told


def test_openai_is_loaded_with_the_first_connection_only() -> None:
    code = (
        "import sys, swarmgate.llm.connect, swarmgate.testing; "
        "sys.exit(bool({'openai', 'yaml', 'pydantic_settings', 'httpx'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
