"""Runs mini-swe-agent on a task: its own loop, prompts and client; its commands run in swarmgate's sandbox.

The package is imported here and nowhere else; who imports this module has set its variables before (`measure`).
"""

from __future__ import annotations

import asyncio
import contextlib
import platform
import sys
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import litellm
import yaml
from minisweagent import package_dir
from minisweagent.agents.default import DefaultAgent
from minisweagent.environments.local import LocalEnvironment
from minisweagent.exceptions import LimitsExceeded
from minisweagent.models.litellm_model import LitellmModel

from swarmgate.domain.usage import Usage
from swarmgate.errors import EndpointFailed
from swarmgate.evaluation.alone.outcome import Ended, Setup
from swarmgate.gates.confinement import confined
from swarmgate.llm.prices import cost
from swarmgate.workspace.sandbox.command_runner import CommandRunner

_SUBMITTED = "Submitted"
_LIMITS = "LimitsExceeded"
_COMMAND_S = 120
"""Seconds of one command, as the package's own settings for SWE-bench have it (about a minute) and somewhat more."""


def work(place: Path, statement: str, setup: Setup) -> Ended:
    """Has the agent work on a task in a repository.

    Args:
        place: the repository.
        statement: what is asked for.
        setup: model, settings and bounds.

    Raises:
        EndpointFailed: the endpoint did not answer, as often as it was asked.
        MissingRequirement: nothing can confine its commands here.
    """
    litellm.suppress_debug_info = True
    settings = yaml.safe_load((package_dir / "config" / "mini.yaml").read_text(encoding="utf-8"))
    environment = _Sandboxed(confined(place, setup.config.commands), settings["environment"]["env"])
    bounds = {**settings["agent"], "cost_limit": 0.0, "wall_time_limit_seconds": setup.seconds}
    agent = _Counted(_model(setup, settings["model"]), environment, setup, **bounds)
    try:
        with contextlib.redirect_stdout(sys.stderr):  # its client prints advice where a call fails
            ended = agent.run(statement)
    except Exception as error:  # whatever its client raises in the end
        raise EndpointFailed(f"mini-swe-agent ended: {type(error).__name__}: {error}") from error
    status = str(ended.get("exit_status", ""))
    return Ended(handed_in=status == _SUBMITTED, ended=status, usage=agent.used)


def _model(setup: Setup, settings: Mapping[str, Any]) -> LitellmModel:
    """The package's client for the endpoint of the settings."""
    provider, name = setup.config.provider(setup.model)
    known = {
        **settings["model_kwargs"],
        "api_base": provider.base_url,
        "api_key": setup.environ.get(provider.api_key_env, "") or "none",
        "timeout": provider.timeout_s,
        "extra_headers": dict(provider.headers),
    }
    more = {**settings, "model_kwargs": known, "cost_tracking": "ignore_errors"}
    return LitellmModel(model_name=f"openai/{name}", **more)


class _Sandboxed(LocalEnvironment):
    """Runs its commands confined as an agent's are, but that it may use git as it likes: the repository is its own."""

    def __init__(self, commands: CommandRunner, variables: Mapping[str, str]) -> None:
        super().__init__(cwd=str(commands.root), env=dict(variables), timeout=_COMMAND_S)
        self._commands = replace(commands, confinement=replace(commands.confinement, guarded=()))

    def execute(self, action: Mapping[str, Any], cwd: str = "", *, timeout: int | None = None) -> dict[str, Any]:
        """Runs one command; the answer has the form of the package."""
        limit, command = float(timeout or _COMMAND_S), f"exec 2>&1\ncd {cwd or '.'}\n{action.get('command', '')}"
        done = asyncio.run(self._commands.run(command, timeout_s=limit, env=self.config.env))
        told = f"the command was ended after {limit:.0f} s" if done.timed_out else ""
        code = -1 if done.exit_code is None else done.exit_code
        output = {"output": done.stdout, "returncode": code, "exception_info": told}
        self._check_finished(output)
        return output

    def get_template_vars(self, **more: Any) -> dict[str, Any]:
        """The machine, and no variables of ours: those may hold keys."""
        return {**self.config.model_dump(), **platform.uname()._asdict(), **more}


class _Counted(DefaultAgent):
    """The package's loop, which ends before a call when the tokens of the task are used up."""

    def __init__(self, model: LitellmModel, environment: LocalEnvironment, setup: Setup, **settings: Any) -> None:
        super().__init__(model, environment, **settings)
        self._setup = setup

    @property
    def used(self) -> Usage:
        """The usage so far, by the endpoint's counts and swarmgate's prices."""
        return usage_of(self.messages, self._setup)

    def query(self) -> dict[str, Any]:
        """One call of the model."""
        if self._setup.tokens and self.used.tokens >= self._setup.tokens:
            raise LimitsExceeded(
                {"role": "exit", "content": _LIMITS, "extra": {"exit_status": _LIMITS, "submission": ""}}
            )
        return super().query()


def usage_of(messages: Iterable[Mapping[str, Any]], setup: Setup) -> Usage:
    """The usage of a conversation as the package keeps it, priced as swarmgate prices its own."""
    total = Usage()
    for message in messages:
        response = message.get("extra", {}).get("response")
        counts = response.get("usage") if isinstance(response, dict) else None
        if not counts:
            continue
        cached = (counts.get("prompt_tokens_details") or {}).get("cached_tokens") or 0
        called = Usage(
            calls=1,
            prompt_tokens=counts.get("prompt_tokens") or 0,
            completion_tokens=counts.get("completion_tokens") or 0,
            cached_tokens=cached,
        )
        total += called.model_copy(update={"usd": cost(setup.model, called, setup.config)})
    return total
