"""Defines the agent context: the model, files, prompts and limits that one role works with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

from swarmgate.agents.ask_expert import Expert
from swarmgate.agents.authority.authority import EVERYTHING, Authority
from swarmgate.agents.briefs.brief import Brief, Section
from swarmgate.agents.briefs.house_rules import HouseRulesOf
from swarmgate.agents.briefs.house_rules import none as no_rules
from swarmgate.agents.prompts import Prompts
from swarmgate.config.guards import Bounds
from swarmgate.domain.guard import GuardNote, LiveTurn, Turn
from swarmgate.llm.endpoint.answer_length import WINDOW
from swarmgate.llm.model import Model
from swarmgate.workspace.file_tools.files import FileTree
from swarmgate.workspace.sandbox.command_runner import CommandRunner

DEFAULT_WINDOW = WINDOW
"""Tokens that a model is taken to hold where `[roles.ROLE] context_tokens` does not say."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one turn.

    `replies`: how often an unusable reply, or a refused end of the turn, is sent back to the model. `max_turns`: model
    calls until the turn must have ended. `command_timeout_s`: the longest time of one `run_command`, in seconds.
    `bounds`: the circuit breakers of the role. `context_tokens`: the window of the role's model.
    """

    replies: int = 3
    max_turns: int = 80
    command_timeout_s: float = 120
    bounds: Bounds = field(default_factory=Bounds)
    context_tokens: int = DEFAULT_WINDOW

    @property
    def result_chars(self) -> int:
        """Characters of one tool result: an eighth of the window, at a token per 4 characters, and a long file's."""
        return min(40_000, self.context_tokens // 2)

    @property
    def section_chars(self) -> int:
        """Characters of one section of a brief: a quarter of the window."""
        return min(100_000, self.context_tokens)


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One tool call, for a progress display; `summary` is one line, and so is `problem`, why it did not succeed.

    `outcome` is what came of it: `+3 -1` lines of an edit, `exit code 1 after 2.3 s`; `detail` is the diff of the edit,
    or the output of the command; `failed` says that the command failed, or the call.
    """

    role: str
    tool: str
    summary: str
    problem: str = ""
    outcome: str = ""
    detail: str = ""
    failed: bool = False


def ignore(_what: object) -> None:
    """Tell nobody."""


def ignore_words(_role: str, _words: str) -> None:
    """Tell nobody."""


async def nothing_open() -> None:
    """Ends nothing."""


@dataclass(frozen=True)
class AgentContext:
    """The context of one role's turns.

    `house_rules` gives what the project itself tells agents about some files: it stands, fenced, in every brief.
    `commands` runs what `run_command` is asked for, confined; `allow_commands` are patterns of lines that run though
    the policy speaks against them.
    `on_tool` hears of each tool call, `on_words` of role and words where a reply says something beside its calls.
    `on_guard` hears what a guard noticed, `on_turn` what a turn took: both go on record in the ledger. `on_count` hears
    how far the breakers of the running turn have come, None at its end. `expert` is whom `ask_sme` asks; None: nobody.
    `authority` is what the role may write, `self_coding` how many of the architect's own writes were refused in this
    run so far, `opening` what a brief of its begins with. `spare` hears of a file before a
    tool writes or deletes it, `ignored_by` names the rule by which git ignores a path, `uncollected` says why the test
    runner passes over a test file. `sweep` takes away what a
    command left that nobody can read, pipes and the like, and gives the paths. `persona` is the voice's own part of
    the system message, after the prompt of its role. `end_turn` ends what a model holds open for a turn.
    """

    model: Model
    files: FileTree
    prompts: Prompts
    commands: CommandRunner
    allow_commands: tuple[str, ...] = ()
    house_rules: HouseRulesOf = no_rules
    limits: Limits = field(default_factory=Limits)
    on_tool: Callable[[ToolUse], None] = ignore
    on_words: Callable[[str, str], None] = ignore_words
    on_guard: Callable[[GuardNote], None] = ignore
    on_turn: Callable[[Turn], None] = ignore
    on_count: Callable[[LiveTurn | None], None] = ignore
    expert: Expert | None = None
    authority: Authority = EVERYTHING
    self_coding: Callable[[], int] = lambda: 0
    opening: Callable[[Brief], tuple[Section, ...]] = lambda _brief: ()
    spare: Callable[[Path], None] = ignore
    ignored_by: Callable[[str], str] = lambda _path: ""
    uncollected: Callable[[str], str] = lambda _path: ""
    sweep: Callable[[], tuple[str, ...]] = lambda: ()
    persona: str = ""
    end_turn: Callable[[], Awaitable[None]] = nothing_open
