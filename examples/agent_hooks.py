"""What another agent's hooks ask swarmgate, played by hand: a session is held until its change passes.

Run it with `python examples/agent_hooks.py`: it makes a repository in a temporary folder, and hands `swarm hook` what
Claude Code, Codex and Gemini CLI hand to it. A program of your own that has hooks can do the same: JSON on standard
input, exit code 2 with a text for the model on standard error. See `swarm docs agent-hooks`.
"""  # noqa: INP001 - an example, not a package

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

UNUSED = '"""Sums."""\n\nimport os\n\n\ndef one() -> int:\n    """Gives one."""\n    return 1\n'
MENDED = UNUSED.replace("import os\n\n\n", "\n")


def hook(event: str, repository: Path, **fields: object) -> int:
    """Hands an event to a hook, prints what the model would read, and returns the exit code."""
    request = {"session_id": "example", "cwd": str(repository), **fields}
    done = subprocess.run(
        [sys.executable, "-m", "swarmgate", "hook", event],
        input=json.dumps(request),
        cwd=repository,
        env={**os.environ, "XDG_STATE_HOME": str(repository.parent / "state")},  # sessions are remembered there
        capture_output=True,
        text=True,
        check=False,
    )
    sys.stdout.write(f"--- {event}: exit code {done.returncode}\n{done.stderr}")
    return done.returncode


def session(repository: Path) -> list[int]:
    """The exit codes of the hooks of one session."""
    place = repository / "sums.py"
    codes = [
        hook("session-start", repository),
        hook("pre-tool-use", repository, tool_name="Bash", tool_input={"command": "git reset --hard"}),
        hook("pre-tool-use", repository, tool_name="Bash", tool_input={"command": "git status"}),
    ]
    place.write_text(UNUSED, encoding="utf-8")
    codes.append(hook("stop", repository, stop_hook_active=False))
    place.write_text(MENDED, encoding="utf-8")
    codes.append(hook("stop", repository, stop_hook_active=True))
    return codes


def main() -> int:
    """0 when what destroys is refused, and the session ends once its change is mended."""
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder).resolve() / "repository"
        git = ("git", "-c", "user.name=Ada Example", "-c", "user.email=ada@example.com")
        subprocess.run([*git, "init", "--quiet", str(repository)], check=True)
        subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", "Begin"], cwd=repository, check=True)
        return 0 if session(repository) == [0, 2, 0, 2, 0] else 1


if __name__ == "__main__":
    sys.exit(main())
