"""`swarm gates explain`: explains a rule."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from swarmgate.errors import NotAProject
from swarmgate.gates import explain as texts
from swarmgate.gates.definition import load
from swarmgate.workspace.git.repository import Repository

if TYPE_CHECKING:
    from swarmgate.gates.explain import Explained


def explain(start: Path | None, rule: str) -> Explained:
    """What a rule or a gate is about; outside of a repository, those that come with swarmgate.

    Raises:
        UsageError: nobody knows it.
    """
    try:
        root = Repository.discover((start or Path.cwd()).resolve(), lenient=True).root
    except NotAProject:
        root = None
    return asyncio.run(texts.explain(rule, load(root)))


def lines(explained: Explained) -> list[str]:
    """The explanation for people."""
    head = [f"{explained.rule}  [{', '.join(explained.gates)}]", explained.title, ""]
    facts = {"severity": explained.severity, "CWE": explained.cwe, "OWASP": explained.owasp}
    text = [*head, *(f"{name}: {value}" for name, value in facts.items() if value)]
    for title, body in (
        ("Why", explained.why),
        ("What to do", explained.mend),
        ("Example", explained.example),
        ("Suppress", explained.suppress),
    ):
        text += ["", f"{title}:", *(f"  {line}".rstrip() for line in body.splitlines())] if body else []
    return text
