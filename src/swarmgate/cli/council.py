"""The verbs of a pattern without a file of its own here: hold FILE.toml, resume, show and list, made from the table."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swarmgate.cli.columns import at, columns, gist
from swarmgate.cli.default_verb import DefaultVerb
from swarmgate.cli.options import Json, Repo, Tokens, Usd, filled
from swarmgate.cli.terminal import Terminal, boundary
from swarmgate.council import patterns
from swarmgate.errors import CouncilRefused, SwarmError

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

    from swarmgate.council.shared import Shared
    from swarmgate.engine.swarm import Swarm

_Id = Annotated[str, typer.Argument(metavar="ID", callback=filled, help="The id of a record, as `list` shows it.")]


class FileOrVerb(DefaultVerb):
    """The verbs of a pattern; a file needs none."""

    otherwise = "for a file of that name"


def verbs() -> tuple[str, ...]:
    """The verbs of all patterns."""
    return tuple(each.verb for each in patterns.PATTERNS.values())


def app_of(verb: str) -> typer.Typer:
    """The verbs below the verb of a pattern."""
    name = next(name for name, each in patterns.PATTERNS.items() if each.verb == verb)
    app = typer.Typer(
        cls=FileOrVerb,
        help=f"Hold a {name}: swarm {verb} FILE.toml. Or resume, show and list those on record. All take --json and "
        f"--repo.\n\nExample: swarm {verb} {name}.toml",
        no_args_is_help=True,
        rich_markup_mode=None,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.command("hold")
    def hold(
        file: Annotated[Path, typer.Argument(metavar="FILE.toml", help="What is asked for.")],
        tokens: Tokens = None,
        usd: Usd = None,
        repo: Repo = None,
        json: Json = False,
    ) -> None:
        """Hold what a TOML file asks for, to its end. The word `hold` may go; exit code 0 where it came to its end."""
        with boundary(json) as terminal:
            from swarmgate.council.shared import new_id

            request = _request(name, file, new_id())

            def work(swarm: Swarm) -> Coroutine[Any, Any, Any]:
                shared = swarm.council.shared
                allowance = shared.allowance.but(tokens=tokens, usd=usd)
                return shared.hold(patterns.pattern(name), request, allowance=allowance)

            _held(terminal, repo, name, str(request.id), work)

    @app.command("resume")
    def resume(record: _Id, tokens: Tokens = None, usd: Usd = None, repo: Repo = None, json: Json = False) -> None:
        """Go on with one that was interrupted, after what is whole; exit codes as of `hold`."""
        with boundary(json) as terminal:
            work = partial(_resumed, name=name, record=record, tokens=tokens, usd=usd)
            _held(terminal, repo, name, record, work)

    @app.command("show")
    def show(
        record: _Id,
        events: Annotated[
            bool, typer.Option("--events", help="Replay it: what was told, a line of JSON each.")
        ] = False,
        repo: Repo = None,
        json: Json = False,
    ) -> None:
        """Show one that is on record, or replay it."""
        with boundary(json) as terminal:
            found = _shared(repo).record(patterns.pattern(name), record)
            if events:
                terminal.text("".join(f"{each.model_dump_json()}\n" for each in found.replayed()))
            else:
                terminal.result(found.pattern.data(found.standing), found.pattern.lines(found.standing))

    @app.command("list")
    def listing(repo: Repo = None, json: Json = False) -> None:
        """List those on record, the newest first."""
        with boundary(json) as terminal:
            shared = _shared(repo)
            rows = [_row(shared, name, each) for each in shared.records.ids(name)]
            lines = columns([[each["id"], at(each["began"]), each["status"], gist(each["title"])] for each in rows])
            terminal.result(rows, lines or [f"There is no {name} here yet."])

    return app


def _held(
    terminal: Terminal, repo: Path | None, name: str, record: str, work: Callable[[Swarm], Coroutine[Any, Any, Any]]
) -> None:
    """Does the work with live progress, prints what came of it, and leaves with the exit code of that."""
    from swarmgate.cli.holding import held

    held(repo, terminal, work, goes_on=patterns.pattern(name).goes_on(record))
    found = _shared(repo).record(patterns.pattern(name), record)
    terminal.result(found.pattern.data(found.standing), found.pattern.lines(found.standing))
    raise typer.Exit(found.pattern.exit_code(found.standing))


def _resumed(
    swarm: Swarm, *, name: str, record: str, tokens: int | None, usd: float | None
) -> Coroutine[Any, Any, Any]:
    return swarm.council.shared.resume(patterns.pattern(name), record, tokens=tokens, usd=usd)


def _shared(repo: Path | None) -> Shared:
    from swarmgate.engine.swarm import Swarm

    return Swarm(repo).council.shared


def _request(name: str, file: Path, record: str) -> Any:
    """The request that a file describes.

    Raises:
        CouncilRefused: it cannot be read, or a key is wrong; the message names file, line and key.
    """
    from pydantic import ValidationError

    from swarmgate.council.described import tables_of, text_of
    from swarmgate.council.toml_lines import line_within

    text = text_of(file, f"{name} file", hint=f"Give the path of a TOML file that describes a {name}.")
    try:
        return patterns.pattern(name).request.model_validate({"id": record, **tables_of(file, text)})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        line = line_within(text, first["loc"])
        key = ".".join(map(str, first["loc"]))
        raise CouncilRefused(
            f"{file}{f', line {line}' if line else ''}: `{key}`: {first['msg'].removeprefix('Value error, ')}",
            hint="Mend that, then try again.",
        ) from None


def _row(shared: Shared, name: str, record: str) -> dict[str, str]:
    """One record of the list; a damaged one is named as such."""
    try:
        found = shared.record(patterns.pattern(name), record)
    except SwarmError as error:
        return {"id": record, "began": "", "status": "damaged", "title": error.message}
    return found.pattern.row(found.standing)
