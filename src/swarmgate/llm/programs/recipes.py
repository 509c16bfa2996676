"""A table of known agent programs: how each is started for a role, what it needs, and which version was tested."""

from __future__ import annotations

from swarmgate.config import ACP, COMMAND, command_lines
from swarmgate.domain.base import Frozen


class Recipe(Frozen):
    """How one program is started.

    Attributes:
        name: what it is called here.
        title: what its makers call it.
        install: the command that installs it.
        program: what the executable is called.
        acp: the command line by which it speaks the Agent Client Protocol; empty where it does not.
        acp_install: what that needs besides.
        events: the command line by which it prints what it does, as JSON; empty where it does not.
        plain: the command line by which it prints its answer alone.
        env: variables that hold a key; one of them is enough.
        login: what a login by hand leaves in the home; opened by `readable`, or `writable` where it is renewed.
        local: how it is pointed at an endpoint of yours.
        tried: the version that did a task in the sandbox, and by which ways; empty where nobody did that.
        commands: whether it runs commands by itself.
        note: what has to be known besides.
    """

    name: str
    title: str
    install: str
    program: str
    acp: str = ""
    acp_install: str = ""
    events: str = ""
    plain: str
    env: tuple[str, ...] = ()
    login: tuple[str, ...] = ()
    local: str = ""
    tried: str = ""
    commands: bool = True
    note: str = ""

    @property
    def ways(self) -> dict[str, str]:
        """The model to write into the settings, by the way it speaks; the best one first."""
        lines = {"acp": (ACP, self.acp), "events": (COMMAND, self.events), "plain": (COMMAND, self.plain)}
        return {way: f"{prefix}{line}" for way, (prefix, line) in lines.items() if line}

    def started_by(self, way: str) -> str:
        """The executable of a way."""
        return command_lines.read(self.ways[way].partition(":")[2]).program

    def table(self, way: str, role: str = "coder") -> str:
        """A table for the settings."""
        lines = [f"[roles.{role}]", f"model = {_quoted(self.ways[way])}"]
        if self.env:
            lines.append(f'env = ["{self.env[0]}"]')
        return "\n".join(lines)


def _quoted(text: str) -> str:
    return (
        f"'{text}'" if '"' in text and "'" not in text else '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
    )


RECIPES = (
    Recipe(
        name="claude-code",
        title="Claude Code",
        install="npm install -g @anthropic-ai/claude-code",
        program="claude",
        acp="claude-agent-acp",
        acp_install="npm install -g @zed-industries/claude-agent-acp",
        events="claude -p --output-format stream-json --verbose --permission-mode acceptEdits --allowedTools Bash",
        plain="claude -p --permission-mode acceptEdits --allowedTools Bash",
        env=("ANTHROPIC_API_KEY", "CLAUDE_CODE_OAUTH_TOKEN"),
        login=("~/.claude", "~/.claude.json"),
        tried="2.1.197 by acp (claude-agent-acp 0.23) and events, against a scripted endpoint",
        local="ANTHROPIC_BASE_URL in `env`: an endpoint that speaks Anthropic's wire",
        note="`--allowedTools Bash`: without it, it may edit, and not run the tests.",
    ),
    Recipe(
        name="codex",
        title="Codex",
        install="npm install -g @openai/codex",
        program="codex",
        events="codex exec --json --skip-git-repo-check --sandbox danger-full-access -",
        plain="codex exec --skip-git-repo-check --sandbox danger-full-access -",
        env=("CODEX_API_KEY", "OPENAI_API_KEY"),
        login=("~/.codex",),
        tried="0.169.0 by events, against a scripted endpoint",
        local='-c model_provider=mine -c \'model_providers.mine={name="mine",base_url="URL",wire_api="responses"}\'',
        note="`--sandbox danger-full-access` switches its own sandbox off: it runs inside of ours.",
    ),
    Recipe(
        name="opencode",
        title="OpenCode",
        install="npm install -g opencode-ai",
        program="opencode",
        acp="opencode acp",
        events="opencode run --format json",
        plain="opencode run",
        env=("OPENCODE_CONFIG_CONTENT",),
        login=("~/.local/share/opencode",),
        tried="1.18.33 by acp and events, against a scripted endpoint",
        local="a provider with `npm = @ai-sdk/openai-compatible` and its `baseURL`, as JSON in OPENCODE_CONFIG_CONTENT",
    ),
    Recipe(
        name="gemini-cli",
        title="Gemini CLI",
        install="npm install -g @google/gemini-cli",
        program="gemini",
        acp="gemini --acp",
        events="gemini --skip-trust --approval-mode yolo --output-format stream-json",
        plain="gemini --skip-trust --approval-mode yolo",
        env=("GEMINI_API_KEY",),
        login=("~/.gemini",),
        local="GOOGLE_GEMINI_BASE_URL in `env`: an endpoint that speaks Google's wire",
        note="`--approval-mode yolo`: with `auto_edit` it may edit, and not run the tests.",
    ),
    Recipe(
        name="aider",
        title="aider",
        install="uv tool install --python 3.12 aider-chat",
        program="aider",
        plain=(
            "aider --yes-always --no-git --no-check-update --no-gitignore --no-analytics "
            "--no-show-model-warnings --map-tokens 0 --chat-history-file /dev/null --input-history-file /dev/null "
            "--message-file {brief}"
        ),
        env=("OPENAI_API_KEY", "ANTHROPIC_API_KEY"),
        tried="0.86.2, against a scripted endpoint",
        local="--model openai/NAME --openai-api-base URL",
        commands=False,
        note="It edits, and runs nothing. `--no-git`: it would write git's settings; the others: files of its own.",
    ),
    Recipe(
        name="mini-swe-agent",
        title="mini-swe-agent",
        install="uv tool install mini-swe-agent --with mcp",
        program="mini",
        plain=(
            "MSWEA_CONFIGURED=true mini --yolo --exit-immediately --task 'Read the file {brief} and do what it says.'"
        ),
        env=("OPENAI_API_KEY", "ANTHROPIC_API_KEY"),
        tried="2.4.6, against a scripted endpoint",
        local="--model openai/NAME, and OPENAI_API_BASE in `env`",
        note="A coder only: what it prints is no answer, so that no verdict can be read.",
    ),
)
"""The programs, the one that is most often used first."""


def recipe(name: str) -> Recipe | None:
    """The recipe of that name, or of the program of that name."""
    return next((each for each in RECIPES if name in {each.name, each.program}), None)
