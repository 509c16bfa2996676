"""`swarm mcp`: serves one project to a coding agent over stdin and stdout."""

from __future__ import annotations

from pathlib import Path

from swarmgate.terminal.options import Repo
from swarmgate.terminal.terminal import boundary


def command(repo: Repo = None) -> None:
    """Serve this project to a coding agent as tools, over stdin.

    It speaks the Model Context Protocol (MCP), and the agent starts it: swarm docs mcp has the settings of Claude Code,
    Codex, VS Code and Cursor. Nothing but the protocol is printed on stdout. It ends when its input does.

    Example: claude mcp add swarmgate -- swarm mcp
    """
    with boundary(as_json=False):
        from swarmgate.mcp import stdio

        stdio.serve((repo or Path.cwd()).resolve())
