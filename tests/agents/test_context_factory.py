from __future__ import annotations

import asyncio
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.project import Project, rule

from swarmgate.agents.briefs.brief import Brief, Section
from swarmgate.agents.briefs.house_rules import HouseRules, everywhere
from swarmgate.agents.context_factory import AgentContexts
from swarmgate.agents.conversation.turn import take_turn
from swarmgate.domain.capabilities import Capabilities
from swarmgate.domain.review.votes import Seat
from swarmgate.engine import Swarm
from swarmgate.errors import ConfigError, CouncilRefused, MissingRequirement, SwarmError, UnsafePath
from swarmgate.llm.budget import Budget
from swarmgate.llm.endpoint.model_memory import ModelMemory
from swarmgate.workspace.git.repository import Repository

Make = Callable[..., AgentContexts]


@pytest.fixture
def voices(project: Project) -> Make:
    def make(**more: object) -> AgentContexts:
        there = Swarm(project.root).project
        fields = {
            "project": there,
            "config": there.config,
            "memory": ModelMemory(),
            "repository": Repository.discover(project.root),
            "environ": {},
            "budget": Budget(),
            "recorder": None,
            "house_rules": everywhere(HouseRules("AGENTS.md", "HOUSE-RULE")),
            **more,
        }
        return AgentContexts(**fields)  # type: ignore[arg-type]  # a test says only what is special

    project.play(rule("participant", "debate", {"text": "I am {{participant}}."}))
    return make


async def said(made: AgentContexts, seat: Seat) -> str:
    brief = Brief("participant", "debate", participant=seat.id, round=1, sections=(Section("The question", "Well?"),))
    ending = await take_turn(made.agent(seat), brief, work={}, endings={}, answer=str)
    await made.aclose()
    return ending.value


async def test_a_seat_speaks_with_its_own_model_and_its_own_words(project: Project, voices: Make) -> None:
    made = voices()
    assert await said(made, Seat(id="ann", model="local/other", system="You love tests.")) == "I am ann."
    assert await said(made, Seat(id="bob")) == "I am bob."
    first, second = project.requests
    assert (first.body["model"], second.body["model"]) == ("other", "senior")
    assert first.messages[0]["content"].endswith("You love tests.")
    assert "You love tests." not in second.messages[0]["content"]
    assert (first.headers["ROLE"], first.headers["PARTICIPANT"], first.headers["ROUND"]) == ("participant", "ann", "1")
    assert "HOUSE-RULE" in first.messages[1]["content"]
    assert sorted(made.meters) == ["participant local/other", "participant local/senior"]
    assert all(meter.total.calls == 1 for meter in made.meters.values())


def test_the_limits_are_those_of_the_council_and_the_window_that_of_the_model(project: Project, voices: Make) -> None:
    project.configure(council={"timeout_s": 7, "tokens": 900}, roles__participant={"model": "local/senior"})
    known = Capabilities(
        model="local/other", base_url=str(project.server and project.server.base_url), asked="", context_tokens=9_000
    )
    made = voices(memory=ModelMemory({"local/other": known}))
    limits = made.agent(Seat(id="a", model="local/other")).limits
    assert (limits.bounds.wall_time_s, limits.bounds.tokens, limits.context_tokens) == (7, 900, 9_000)
    project.configure(roles__participant={"model": "local/senior", "context_tokens": 5_000})
    assert voices().agent(Seat(id="a")).limits.context_tokens == 5_000
    parent = voices().parent()
    assert parent is not None
    assert parent.limits.bounds.tokens is None


def test_files_are_rooted_in_a_folder_and_can_only_be_read(project: Project, voices: Make) -> None:
    agent = voices().agent(Seat(id="a"), folder="src")
    assert "Sums" in agent.files.read("calc/__init__.py")
    for act in (
        lambda: agent.files.write("calc/new.py", "x"),
        lambda: agent.files.edit("calc/__init__.py", "Sums", "Sum"),
        lambda: agent.files.delete("calc/__init__.py"),
        lambda: agent.files.read("../AGENTS.md"),
    ):
        with pytest.raises(UnsafePath):
            act()
    with pytest.raises(SwarmError, match="run no commands"):
        asyncio.run(agent.commands.run(["true"], timeout_s=60))


@pytest.mark.parametrize("folder", ["..", "/", "/etc", "src/../..", "link", ".git", ".swarm", "src/.git", "\0"])
def test_a_folder_outside_of_the_repository_is_refused(project: Project, voices: Make, folder: str) -> None:
    (project.root / "link").symlink_to("/tmp")  # noqa: S108 - anywhere outside
    with pytest.raises(UnsafePath):
        voices().agent(Seat(id="a"), folder=folder)


def test_a_folder_that_is_not_there_is_refused(voices: Make) -> None:
    with pytest.raises(CouncilRefused, match="no folder 'nowhere'"):
        voices().agent(Seat(id="a"), folder="nowhere")


def test_models_that_cannot_be_asked_are_told(project: Project, voices: Make) -> None:
    with pytest.raises(ConfigError, match="unknown provider `nobody`"):
        voices().agent(Seat(id="a", model="nobody/x"))
    with pytest.raises(ConfigError, match='the model of `a` must read "provider/model"'):
        voices().agent(Seat(id="a", model="senior"))
    project.configure(providers__local={"api_key_env": "NOT_SET"})
    with pytest.raises(MissingRequirement, match="NOT_SET is not set"):
        voices().agent(Seat(id="a"))


def test_without_a_model_for_it_there_is_no_parent(voices: Make) -> None:
    config = voices().config
    bare = config.model_copy(update={"roles": {}})
    assert voices(config=bare).parent() is None
    with pytest.raises(ConfigError, match="no model is set for the role `participant`"):
        voices(config=bare).agent(Seat(id="a"))
    assert voices(config=bare).agent(Seat(id="a", model="local/x")).model.name == "local/x"


def _program(project: Project) -> Path:
    """An agent that tries to write into the repository, and says what came of it."""
    script = "import pathlib\ntry:\n    pathlib.Path('planted').write_text('x')\n    print('WROTE')\n"
    path = project.write("agent.py", script + "except OSError:\n    print('COULD-NOT')\n")
    project.git("add", "agent.py")
    project.git("commit", "--quiet", "--message=Agent")
    return path


async def test_an_agent_program_as_a_voice_cannot_write(project: Project, voices: Make) -> None:
    _program(project)
    project.configure(commands={"sandbox": "auto"})
    try:
        made = voices()
        told = await said(made, Seat(id="a", model=f"command:{sys.executable} agent.py"))
    except MissingRequirement as error:
        pytest.skip(f"no sandbox here: {error.message}")
    assert told == "COULD-NOT"
    assert not (project.root / "planted").exists()


async def test_an_agent_program_as_a_voice_reads_neither_git_nor_swarm(project: Project, voices: Make) -> None:
    """Git's settings may hold keys, and what the other voices said stands in `.swarm`."""
    script = """\
        import pathlib
        for place in ("agent.py", ".git/config", ".git/HEAD", ".swarm/config.toml", ".swarm/ledger.jsonl"):
            try:
                print(place, len(pathlib.Path(place).read_text()) > 0)
            except OSError:
                print(place, "HIDDEN")
    """
    project.write("agent.py", textwrap.dedent(script))
    project.git("add", "agent.py")
    project.git("commit", "--quiet", "--message=Agent")
    project.configure(commands={"sandbox": "auto"})
    try:
        told = await said(voices(), Seat(id="a", model=f"command:{sys.executable} agent.py"))
    except MissingRequirement as error:
        pytest.skip(f"no sandbox here: {error.message}")
    first, *others = told.splitlines()
    assert first == "agent.py True"
    assert len(others) == 4
    assert all(each.endswith(" HIDDEN") for each in others)


def test_an_agent_program_without_a_sandbox_is_refused(project: Project, voices: Make) -> None:
    _program(project)
    project.configure(commands={"sandbox": "none"})
    with pytest.raises(CouncilRefused, match="voices only read") as refused:
        voices().agent(Seat(id="a", model=f"command:{sys.executable} agent.py"))
    assert 'sandbox = "auto"' in refused.value.hint


def test_a_council_has_no_role_that_works_on_the_tree(voices: Make) -> None:
    with pytest.raises(ValueError, match="only a run has roles that work on the tree"):
        voices().of("coder")
