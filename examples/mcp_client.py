"""A client of `swarm mcp`: has a change judged, and a command line looked at that is not run.

Run it with `python examples/mcp_client.py`, where `pip install 'swarmgate[mcp]'` was: it makes a repository in a
temporary folder. Agents start the server by themselves, see `swarm docs mcp`; this is for a program of your own.
"""  # noqa: INP001 - an example, not a package

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters, stdio_client

BROKEN = "def one(:\n    return 1\n"


async def called(client: ClientSession, tool: str, **arguments: object) -> dict[str, Any]:
    """The result of a tool; its progress is printed while it works."""

    async def tell(progress: float, total: float | None, message: str | None) -> None:
        sys.stderr.write(f"  {progress:.0f} of {total or '?'}: {message}\n")

    answer = await client.call_tool(tool, arguments, progress_callback=tell)
    if answer.isError or answer.structuredContent is None:
        raise RuntimeError(f"{tool}: {answer.content}")
    result: dict[str, Any] = answer.structuredContent["result"]
    return result


async def session(repository: Path) -> tuple[str, bool]:
    """The verdict on the change, and whether a destructive command would be allowed."""
    server = StdioServerParameters(
        command=sys.executable, args=["-m", "swarmgate", "mcp"], cwd=repository, env=dict(os.environ)
    )
    async with stdio_client(server) as (reading, writing), ClientSession(reading, writing) as client:
        await client.initialize()
        sys.stdout.write(f"tools: {', '.join(each.name for each in (await client.list_tools()).tools)}\n")
        judged = await called(client, "gates_run", only=["syntax_check"])
        for each in judged["findings"]:
            sys.stdout.write("{path}:{line}: {message}\n".format(**each["finding"]))
        guarded = await called(client, "guard_check", command="git push --force")
        sys.stdout.write(f"git push --force: {guarded['reasons'][0]['why']}\n")
    return judged["verdict"], guarded["allowed"]


def main() -> int:
    """0 when the change is rejected and the command would be refused."""
    with tempfile.TemporaryDirectory() as folder:
        repository = Path(folder).resolve()
        git = ("git", "-c", "user.name=Ada Example", "-c", "user.email=ada@example.com")
        subprocess.run([*git, "init", "--quiet"], cwd=repository, check=True)
        subprocess.run([*git, "commit", "--quiet", "--allow-empty", "-m", "Begin"], cwd=repository, check=True)
        (repository / "sums.py").write_text(BROKEN, encoding="utf-8")
        return 0 if asyncio.run(session(repository)) == ("rejected", False) else 1


if __name__ == "__main__":
    sys.exit(main())
