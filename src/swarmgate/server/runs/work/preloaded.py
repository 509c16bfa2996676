"""Loads all that a worker may need, once: the process that workers are forked from imports this, and nothing else does.

Rooms import late for the start-up time of commands; a worker would pay that again with every approval. Here alone an
import has a side effect: it is what forkserver knows to do.
"""

from __future__ import annotations

import pkgutil
from contextlib import suppress
from importlib import import_module
from types import ModuleType

import openai
from pydantic import BaseModel

import swarmgate.agents
import swarmgate.automation
import swarmgate.config
import swarmgate.council
import swarmgate.domain
import swarmgate.engine
import swarmgate.gates
import swarmgate.journal
import swarmgate.ledger
import swarmgate.llm
import swarmgate.workspace
from swarmgate.agents.prompts import Prompts
from swarmgate.agents.tools.arguments import Arguments
from swarmgate.config import SPEAKING
from swarmgate.config.base import Section
from swarmgate.domain.base import Frozen
from swarmgate.errors import MissingRequirement
from swarmgate.workspace.sandbox.choice import choose

ROOMS: tuple[ModuleType, ...] = (
    swarmgate.domain,
    swarmgate.config,
    swarmgate.workspace,
    swarmgate.journal,
    swarmgate.ledger,
    swarmgate.llm,
    swarmgate.gates,
    swarmgate.agents,
    swarmgate.council,
    swarmgate.automation,
    swarmgate.engine,
)
_OF_OTHERS = (
    "anyio._backends._asyncio",
    "jinja2.meta",
    "jinja2.sandbox",
    "openai.resources.chat",
    "openai.types.responses",
    "swarmgate.server.runs.work.worker",
    "tomlkit",
    "yaml",
)
_SCRIPTS = (".inside", ".launcher", ".daemon")
"""What is run in a process of its own, or in that of the project's tests."""


def _load(room: ModuleType) -> None:
    for found in pkgutil.walk_packages(room.__path__, f"{room.__name__}.", onerror=lambda _: None):
        if not any(part in f"{found.name}." for part in _SCRIPTS):
            import_module(found.name)


def _build(kind: type[BaseModel]) -> None:
    """Builds the validators of all records, which is put off until their first use."""
    for each in kind.__subclasses__():
        if each.__module__.startswith("swarmgate.") and not each.__pydantic_complete__:
            each.model_rebuild(raise_errors=False)
        _build(each)


def _prompts() -> None:
    """Reads the built-in prompts, which are kept by their text."""
    prompts = Prompts()
    prompts.load(SPEAKING)


def _connect() -> None:
    """Makes a client of an endpoint, which loads what connects; nothing is connected to."""
    client = openai.AsyncOpenAI(api_key="-", base_url="http://127.0.0.1:9")
    _ = client.chat.completions


def _sandbox() -> None:
    """Tries which sandbox works here, which stays so while a process lives."""
    with suppress(MissingRequirement):  # the run that needs one says so
        choose()


for _room in ROOMS:
    _load(_room)
for _name in _OF_OTHERS:
    import_module(_name)
for _kind in (Frozen, Arguments, Section):
    _build(_kind)
_prompts()
_connect()
_sandbox()
