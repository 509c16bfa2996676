"""A script for CI: the gates on a branch, with annotations, a summary and an exit code that decides.

Run it with `python examples/ci.py`, and it judges a branch of a repository that it makes in a temporary folder. In your
own pipeline, where the repository and its base are there: the same file with two arguments, REPOSITORY and BASE. On
GitHub the findings become annotations of the pull request, and the table goes to the summary of the job.
"""  # noqa: INP001 - an example, not a package

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import swarmgate
import swarmgate.gates

WEAK = '''"""Greetings."""

import subprocess


def greet(name: str) -> str:
    """What the shell makes of a greeting."""
    return subprocess.check_output(f"echo Hello {name}", shell=True, text=True)
'''


def summary(judged: swarmgate.gates.Judged) -> str:
    """The report as a table in Markdown: a row for each gate that ran."""
    rows = [f"| {each.gate} | {each.status} | {each.reason} |" for each in judged.report.results if each.files]
    return "\n".join((f"### {judged.report.summary}", "", "| gate | result | why |", "|---|---|---|", *rows, ""))


def judge(repository: Path, base: str) -> int:
    """Judges what differs from the base and tells it where CI looks for it; the exit code of `swarm gates run`."""
    judged = swarmgate.gates.check(repository, base)
    sys.stdout.write(judged.rendered("github" if "GITHUB_ACTIONS" in os.environ else "text"))
    if place := os.environ.get("GITHUB_STEP_SUMMARY"):
        with Path(place).open("a", encoding="utf-8") as page:
            page.write(summary(judged))
    judged.save("sarif", repository / "gates.sarif")
    return judged.exit_code


def demonstration(root: Path) -> None:
    """A repository with a branch that adds a weakness."""
    (root / "README.md").write_text("# Greetings\n", encoding="utf-8")
    git = ("git", "-c", "user.name=Ada Example", "-c", "user.email=ada@example.com")
    subprocess.run([*git, "init", "--quiet", "--initial-branch=main"], cwd=root, check=True)
    for branch, name, text in (("main", "README.md", "# Greetings\n"), ("work", "greetings.py", WEAK)):
        if branch != "main":
            subprocess.run([*git, "switch", "--quiet", "--create", branch], cwd=root, check=True)
        (root / name).write_text(text, encoding="utf-8")
        subprocess.run([*git, "add", "--all"], cwd=root, check=True)
        subprocess.run([*git, "commit", "--quiet", "--message", f"Add {name}"], cwd=root, check=True)


def main(arguments: list[str]) -> int:
    """The exit code: that of the gates; of the demonstration 0 when they find the weakness."""
    if arguments:
        repository, base = arguments
        return judge(Path(repository), base)
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        demonstration(root)
        return 0 if judge(root, "main") == 1 else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except swarmgate.SwarmError as error:
        sys.exit(f"{error.message} {error.hint}".strip())
