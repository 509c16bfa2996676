"""Writes the list of public names in docs/api.md, with their signatures, from the source.

Run it with `python docs/render_api.py`. Only the source is read (griffe), nothing is imported. The list ends in its own
fingerprint: a test wants that in CHANGELOG.md, so that no public name changes without a note.
"""  # noqa: INP001 - a script beside the pages that it writes, not a package

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from pathlib import Path

import griffe
from derived import Derived

SOURCE = Path(__file__).parent.parent / "src"
COUNCIL = {
    "debate": "debate.facade.Debates.debate",
    "dispatch": "dispatch.facade.Dispatches.dispatch",
    "swarm": "chat.facade.Chats.swarm",
    "discuss": "discussion.facade.Discussions.discuss",
    "decide": "decision.facade.Decisions.decide",
    "critique": "critique.facade.Critiques.critique",
    "orchestrate": "orchestration.facade.Orchestrations.orchestrate",
}
FACES = {
    "swarmgate.Swarm": ("swarmgate.engine.swarm.Swarm",),
    "swarmgate.Swarm.council": tuple(f"swarmgate.council.{path}" for path in COUNCIL.values()),
    "swarmgate.gates": ("swarmgate.gates.verbs.check.check", "swarmgate.gates.verbs.run.Judged"),
    "what they give": (
        "swarmgate.engine.reports.outcome.RunOutcome",
        "swarmgate.domain.review.finding.GateReport",
        "swarmgate.domain.review.finding.GateResult",
        "swarmgate.domain.review.finding.Finding",
        "swarmgate.ledger.check.Check",
    ),
    "swarmgate.SwarmError": ("swarmgate.errors.SwarmError",),
    "swarmgate.testing": (
        "swarmgate.testing.server.ScriptedServer",
        "swarmgate.testing.server.ReceivedRequest",
        "swarmgate.testing.script.Script",
    ),
}
"""The public face by headings, and where in the source each of it stands."""


def body() -> str:
    """A list of signatures for each heading, and the fingerprint of all."""
    lines = []
    for heading, paths in FACES.items():
        lines += [f"### {heading}", "", "```text"]
        for path in paths:
            lines += _told(_found(path))
        lines += ["```", ""]
    return "\n".join([*lines, f"Fingerprint of the public face: `{_fingerprint(lines)}`", ""])


def fingerprint() -> str:
    """The fingerprint of the face as the source has it."""
    return body().rpartition("`")[0].rpartition("`")[2]


def _fingerprint(lines: list[str]) -> str:
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def _found(path: str) -> griffe.Object | griffe.Alias:
    """What a dotted path names, read from the one file that it stands in."""
    parts = path.split(".")
    length = next(size for size in range(len(parts), 0, -1) if _file(parts[:size]).is_file())
    file = _file(parts[:length])
    module = griffe.visit(".".join(parts[:length]), filepath=file, code=file.read_text(encoding="utf-8"))
    found: griffe.Object | griffe.Alias = module[".".join(parts[length:])]
    return found


def _file(parts: list[str]) -> Path:
    return SOURCE.joinpath(*parts).with_suffix(".py")


def _told(thing: griffe.Object | griffe.Alias) -> Iterator[str]:
    """The lines of a function, of a class with its public members, or of an attribute."""
    if isinstance(thing, griffe.Class):
        bases = ", ".join(str(base) for base in thing.bases)
        yield f"class {thing.name}({bases})" if bases else f"class {thing.name}"
        for name, member in thing.members.items():
            if (name[0] != "_" or name == "__init__") and isinstance(member, griffe.Function | griffe.Attribute):
                yield from (f"    {line}" for line in _told(member))
    elif isinstance(thing, griffe.Function):
        yield _signature(thing)
    elif isinstance(thing, griffe.Attribute):
        yield f"{thing.name}: {thing.annotation}" if thing.annotation else thing.name


def _signature(function: griffe.Function) -> str:
    """A function on one line, as its source declares it."""
    declared = "async def" if "async" in function.labels else "def"
    return f"{declared} {function.name}({', '.join(_parameters(function))}) -> {function.returns}"


def _parameters(function: griffe.Function) -> Iterator[str]:
    keyword = griffe.ParameterKind.keyword_only
    before: griffe.ParameterKind | None = None
    for each in function.parameters:
        if each.name in {"self", "cls"}:
            continue
        if each.kind is keyword and before not in {keyword, griffe.ParameterKind.var_positional}:
            yield "*"
        before = each.kind
        stars = {griffe.ParameterKind.var_positional: "*", griffe.ParameterKind.var_keyword: "**"}.get(each.kind, "")
        kind = f": {each.annotation}" if each.annotation else ""
        default = f" = {each.default}" if each.default is not None and not stars else ""
        yield f"{stars}{each.name}{kind}{default}"


DERIVED = Derived(Path(__file__).with_name("api.md"), Path(__file__).name, body, end="<!-- end of the public face -->")

if __name__ == "__main__":
    sys.exit(DERIVED.write())
