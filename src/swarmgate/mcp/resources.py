"""The resources: the plan, lines of the ledger, files of evidence, by address.

swarm://plan                              the plan, as plan.md has it
swarm://ledger/12                         line 12 of the ledger
swarm://evidence/1.2/1                    the files of the evidence of attempt 1 of task 1.2
swarm://evidence/1.2/1?file=change.patch  one of them; with &after=24000 from that character on
swarm://plan?goal=g-0123456789ab          on a team server, where every address names a goal
"""

from __future__ import annotations

import re
from typing import NamedTuple
from urllib.parse import parse_qsl

from swarmgate.errors import UsageError
from swarmgate.mcp.backend import Backend, Document

LONGEST = 24_000
"""Characters of a text that are read at once."""

PLAN = "swarm://plan"


class Template(NamedTuple):
    """A form of addresses."""

    address: str
    name: str
    description: str
    media_type: str


TEMPLATES = (
    Template("swarm://ledger/{seq}", "ledger line", "One recorded event, by its number.", "application/json"),
    Template(
        "swarm://evidence/{task}/{attempt}",
        "evidence",
        "The list of files that prove an attempt at a task; with ?file=NAME one of them, with &after=N from there on.",
        "application/json",
    ),
)

_FORM = re.compile(
    r"swarm://(?:(?P<plan>plan)|ledger/(?P<seq>[0-9]{1,9})|evidence/(?P<task>[0-9A-Za-z._-]{1,40})/(?P<attempt>[0-9]{1,4}))"
)


async def read(backend: Backend, address: str) -> Document:
    """The text at an address, so much of it as is read at once; where there is more, its last line says how.

    Raises:
        UsageError: there is nothing at such an address.
        SwarmError: it cannot be read.
    """
    plain, _, query = address.partition("?")
    found, asked = _FORM.fullmatch(plain), dict(parse_qsl(query)[:8])
    if found is None or len(address) > 400:  # noqa: PLR2004 - characters, more than any has
        raise UsageError(f"There is no resource {address[:100]!r}.", hint=f"There are: {PLAN}, {_forms()}.")
    begins = asked.get("after", "0")
    if not (begins.isascii() and begins.isdigit() and len(begins) < 10):  # noqa: PLR2004 - digits
        raise UsageError("`after` is a number of characters.", hint="Take it from the end of the part before.")
    return _part(
        await _whole(backend, found, asked.get("goal", "")[:40], asked.get("file", "")), plain, asked, int(begins)
    )


async def _whole(backend: Backend, found: re.Match[str], goal: str, file: str) -> Document:
    if found["plan"]:
        return await backend.plan_document(goal)
    if found["seq"]:
        return await backend.entry(goal, int(found["seq"]))
    return await backend.evidence(goal, found["task"], int(found["attempt"]), file)


def _part(document: Document, address: str, asked: dict[str, str], begins: int) -> Document:
    ends = begins + LONGEST
    if begins == 0 and len(document.text) <= ends:
        return document
    named = "".join(f"{name}={asked[name]}&" for name in ("goal", "file") if name in asked)
    left = len(document.text) - ends
    more = f"\n[{left} characters more: {address}?{named}after={ends}]" if left > 0 else ""
    return document._replace(media_type="text/plain", text=document.text[begins:ends] + more)


def _forms() -> str:
    return ", ".join(each.address for each in TEMPLATES)
