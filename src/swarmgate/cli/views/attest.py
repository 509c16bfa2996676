"""`swarm attest`: shows, verifies and restores the in-toto statements about the commits of tasks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from swarmgate.terminal.options import Json, Repo
from swarmgate.terminal.terminal import boundary
from swarmgate.terminal.verb_group import VerbGroup

if TYPE_CHECKING:
    from pathlib import Path

    from swarmgate.ledger.audit.attestations import VerifiedRange
    from swarmgate.workspace.git.repository import Repository

app = typer.Typer(
    cls=VerbGroup,
    no_args_is_help=True,
    help="Show, verify and restore statements about tasks' commits. See: swarm attest verify --help.",
    rich_markup_mode=None,
)


@app.command("verify")
def verify(
    revisions: Annotated[
        str, typer.Argument(metavar="REV|RANGE", help="A commit, or the commits of A..B.", show_default=False)
    ],
    signed: Annotated[
        bool, typer.Option("--signed", help="Each attested commit has to bear a good signature, too.")
    ] = False,
    every: Annotated[bool, typer.Option("--every", help="Each commit of the range has to be attested.")] = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Verify that statements fit their commits, the ledger and the evidence.

    Needs the repository alone, with the notes fetched; no .swarm/, no model, no network. Exit code 1 names what was
    altered, and where.

    Example: swarm attest verify main..swarm/jwt-authentication
    """
    with boundary(json) as terminal:
        from swarmgate.ledger.audit import attestations

        found = attestations.verify(_repository(repo), revisions, signed=signed, every=every)
        terminal.result(found.model_dump(mode="json"), list(_lines(found)))
        raise typer.Exit(0 if found.passed else 1)


@app.command("show")
def show(
    revision: Annotated[str, typer.Argument(metavar="REV", help="A commit.")] = "HEAD",
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Show the statement about a commit, as in-toto JSON.

    Example: swarm attest show HEAD
    """
    with boundary(json) as terminal:
        from swarmgate.ledger.audit import attestations

        statement = attestations.show(_repository(repo), revision)
        terminal.result(statement.model_dump(mode="json", by_alias=True), statement.text().splitlines())


@app.command("restore")
def restore(
    revisions: Annotated[str, typer.Argument(metavar="REV|RANGE", help="A commit, or the commits of A..B.")] = "HEAD",
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Write statements that are missing or altered again, from the ledger that is here.

    A statement is computed from the ledger, and written only where it is the one that the commit's trailer announces.
    Exit code 1 names the commits whose statements are still missing.

    Example: swarm attest restore main..swarm/jwt-authentication
    """
    with boundary(json) as terminal:
        from swarmgate.ledger.audit import statements

        found = statements.restore(_repository(repo), revisions)
        lines = [f"restored  {each[:12]}" for each in found.restored]
        lines += [f"missing   {commit[:12]}  {why}" for commit, why in found.left.items()]
        terminal.result(found, [*lines, f"{len(found.restored)} statements written, {len(found.left)} still missing"])
        raise typer.Exit(1 if found.left else 0)


def _repository(repo: Path | None) -> Repository:
    from pathlib import Path

    from swarmgate.workspace.git.repository import Repository

    return Repository.discover(repo or Path.cwd(), lenient=True)


def _lines(found: VerifiedRange) -> Iterator[str]:
    for each in found.commits:
        about = f"task {each.task}: {each.title}" if each.title else f"task {each.task or '(none)'}"
        yield f"{'FAIL' if each.problems else 'ok  '}  {each.commit[:12]}  {about}"
        yield from (f"      {problem}" for problem in each.problems)
        yield from (f"      note: {note}" for note in each.notes)
    bad = sum(bool(each.problems) for each in found.commits)
    others = f"; {len(found.others)} bear none" if found.others else ""
    yield f"{len(found.commits)} statements, {bad} that do not hold{others}"
