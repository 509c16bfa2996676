"""`swarm gates`: runs the quality gates by hand, in any git repository."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swarmgate.terminal.options import Json, Repo, filled
from swarmgate.terminal.terminal import boundary
from swarmgate.terminal.verb_group import VerbGroup

app = typer.Typer(
    cls=VerbGroup,
    help="Run the quality gates by hand, explain them, accept findings. Look for their tools, too.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)

_Paths = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PATH]...",
        callback=filled,
        help="Judge these files and folders whole; with --base, --staged: their change.",
    ),
]
_Base = Annotated[
    str | None,
    typer.Option("--base", metavar="REV", callback=filled, help="Compare with where HEAD and this revision parted."),
]
_All = Annotated[bool, typer.Option("--all", help="Judge every file whole, tracked or not.")]
_Only = Annotated[
    list[str] | None,
    typer.Option("--only", metavar="GATE", callback=filled, help="Only this gate; may be repeated."),
]


@app.command("run")
def run(
    paths: _Paths = None,
    base: _Base = None,
    staged: Annotated[bool, typer.Option("--staged", help="Judge what is staged, and nothing else.")] = False,
    everything: _All = False,
    only: _Only = None,
    skip: Annotated[
        list[str] | None, typer.Option("--skip", metavar="GATE", callback=filled, help="Not this gate.")
    ] = None,
    fix: Annotated[
        bool | None,
        typer.Option(
            "--fix/--no-fix",
            help="Let gates change files, or only judge. By default they do, but not with --base, --staged, --all.",
        ),
    ] = None,
    form: Annotated[
        str | None, typer.Option("--format", metavar="FORMAT", help="text (default), json, sarif, junit or github.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", callback=filled, help="Write the report there; print the text."),
    ] = None,
    cache: Annotated[bool, typer.Option("--cache/--no-cache", help="Repeat what was said of the same change.")] = True,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Fix what is safe to fix in the changed files, then judge them; --no-fix only judges.

    The change is what is uncommitted, untracked files included; or what the options name. After a fix the report says
    how to undo it. Exit code 1 when something blocks, 6 when only a missing tool does.

    Example: swarm gates run --base main --format sarif --output gates.sarif
    """
    with boundary(json) as terminal:
        from swarmgate.gates.verbs.request import Request
        from swarmgate.gates.verbs.run import check_form, judge
        from swarmgate.terminal.screen import screen

        chosen_form = check_form(form, as_json=json, to_file=output is not None)
        request = Request(repo, base or "", staged, everything, tuple(paths or ()), fix)
        judged = judge(request, only=tuple(only or ()), skip=tuple(skip or ()), cache=cache)
        if output is not None:
            judged.save(form or chosen_form, output)
        there = screen()
        terminal.text(judged.rendered(chosen_form, there))
        judged.remember(chosen_form, there)
        raise typer.Exit(judged.exit_code)


@app.command("list")
def listing(repo: Repo = None, json: Json = False) -> None:
    """List the gates: what each does, whether it is on, its tools, and whether this project changed it.

    Example: swarm gates list
    """
    with boundary(json) as terminal:
        from swarmgate.gates.verbs import list_gates as gates

        listed = gates.gates(repo)
        terminal.result([each.as_json() for each in listed], gates.lines(listed))


@app.command("explain")
def explain(
    rule: Annotated[str, typer.Argument(metavar="RULE", help="A rule's id as reports name it, or a gate's.")],
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Say what a rule means, how bad it is, how to mend what it finds, and how to suppress it.

    Example: swarm gates explain S602
    """
    with boundary(json) as terminal:
        from swarmgate.gates.verbs import explain

        explanation = explain.explain(repo, rule)
        terminal.result(explanation, explain.lines(explanation))


@app.command("baseline")
def baseline(
    paths: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[list | PATH...]", callback=filled, help="`list` shows what is accepted; paths as those of `run`."
        ),
    ] = None,
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why these findings are accepted.")] = "",
    expires: Annotated[
        str | None,
        typer.Option(
            "--expires", metavar="DATE|DAYS", callback=filled, help="When they count again; never by default."
        ),
    ] = None,
    prune: Annotated[bool, typer.Option("--prune", help="Drop what has expired, and what nothing needs.")] = False,
    base: _Base = None,
    everything: _All = False,
    only: _Only = None,
    force: Annotated[bool, typer.Option("--force", help="Accept secrets too.")] = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Accept the findings that now block: they are counted, and block no more until they expire.

    Example: swarm gates baseline --all --reason "before we used gates" --expires 90
    """
    with boundary(json) as terminal:
        from swarmgate.gates.verbs import baseline
        from swarmgate.gates.verbs.request import Request

        if paths == ["list"]:
            entries = baseline.entries(repo)
            terminal.result([each.model_dump(mode="json") for each in entries], baseline.lines(entries))
            return
        request = Request(repo, base or "", everything=everything, paths=tuple(paths or ()), fix=False)
        stored = baseline.store(
            request, reason=reason, expires=expires or "", prune=prune, force=force, only=tuple(only or ())
        )
        terminal.result(stored.as_json(), stored.lines())


@app.command("doctor")
def doctor(
    install: Annotated[
        bool, typer.Option("--install", help="Install what is missing into an environment of swarmgate's own.")
    ] = False,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Look for each gate's tools: found, version, where, and how to get what is missing.

    Exit code 6 when a required tool is missing.

    Example: swarm gates doctor --install
    """
    with boundary(json) as terminal:
        from swarmgate.gates.verbs.doctor import examine

        examined = examine(repo, install=install)
        terminal.result(examined.as_json(), examined.lines())
        raise typer.Exit(examined.exit_code)
