"""Makes the verbs `resume`, `show` and `list` of every council pattern from the table of patterns.

A pattern with a file of its own there has its `hold`, and takes from here what it has no flags of its own for.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swarmgate.council import patterns
from swarmgate.errors import CouncilRefused
from swarmgate.terminal.columns import at, columns, gist
from swarmgate.terminal.default_verb import DefaultVerb
from swarmgate.terminal.options import Json, Repo, Tokens, Usd, filled, no_path
from swarmgate.terminal.terminal import Terminal, boundary

if TYPE_CHECKING:
    from collections.abc import Coroutine, Sequence

    from swarmgate.council.facade import Council
    from swarmgate.council.shared import Shared
    from swarmgate.engine.swarm import Swarm

Finish = Callable[[Terminal, "Path | None", Any, str], None]
"""Prints what was held, its outcome and the id that it was to have, and leaves with the exit code."""


def group(about: str, otherwise: str = DefaultVerb.otherwise, *, no_args_is_help: bool = True) -> typer.Typer:
    """The verbs below the verb of a pattern, none yet; `otherwise` as of `DefaultVerb`."""
    return typer.Typer(
        cls=type("Verbs", (DefaultVerb,), {"otherwise": otherwise}),
        help=about,
        no_args_is_help=no_args_is_help,
        rich_markup_mode=None,
        add_completion=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )


def add_resume(
    app: typer.Typer,
    name: str,
    about: str,
    finish: Finish,
    work: Callable[[Council], Callable[..., Coroutine[Any, Any, Any]]],
    *,
    which: str = "",
) -> None:
    """Adds `resume` with its budgets.

    Args:
        app: of the pattern.
        name: of the pattern.
        about: the help.
        finish: prints what came of it.
        work: what goes on with one, of an id, `tokens` and `usd`.
        which: what the id is said to be.
    """
    verb = patterns.PATTERNS[name].verb

    @app.command("resume", help=about)
    def resume(
        record: str = _id(name, which),
        tokens: Tokens = None,
        usd: Usd = None,
        repo: Repo = None,
        json: Json = False,
    ) -> None:
        with boundary(json) as terminal:
            from swarmgate.cli.council.run_session import run_session

            def resumed(swarm: Swarm) -> Coroutine[Any, Any, Any]:
                return work(swarm.council)(record, tokens=tokens, usd=usd)

            outcome = run_session(repo, terminal, resumed, resume_command=f"swarm {verb} resume {record}")
            finish(terminal, repo, outcome, record)


def add_show(app: typer.Typer, name: str, about: str, *, which: str = "") -> None:
    """Adds `show`, of the data and lines that the rules of a pattern make; see `add_resume`."""

    @app.command("show", help=about)
    def show(record: str = _id(name, which), repo: Repo = None, json: Json = False) -> None:
        with boundary(json) as terminal:
            print_record(terminal, repo, name, record)


def add_list(
    app: typer.Typer,
    name: str,
    about: str,
    cells: Callable[[Any], Sequence[str]],
    *,
    every: str = "",
    notes: bool = False,
    none: str = "",
) -> None:
    """Adds `list`.

    Args:
        app: of the pattern.
        name: of the pattern.
        about: the help.
        cells: a row, as its rules make it, in cells for people.
        every: the help of `--all`, without which parts of other records are left out; empty: they are listed.
        notes: whether it is told of records in another store, and of parts where nothing else is there.
        none: what is said where there is none.
    """

    def listed(repo: Path | None, as_json: bool, *, parts: bool = True) -> None:
        with boundary(as_json) as terminal:
            shared, rules = _shared(repo), patterns.rules(name)
            if notes and (note := shared.elsewhere()):
                terminal.note(note)
            rows = shared.rows(rules, parts=parts)
            lines = columns([cells(each) for each in rows])
            left = len(shared.records.ids(name)) if notes and not rows else 0
            others = f"There is no {name} here but {left} that others held: swarm {rules.verb} list --all"
            terminal.result(rows, lines or [others if left else none or f"There is no {name} here yet."])

    if every:

        @app.command("list", help=about)
        def listing(
            parts: bool = typer.Option(False, "--all", help=every), repo: Repo = None, json: Json = False
        ) -> None:
            listed(repo, json, parts=parts)
    else:

        @app.command("list", help=about)
        def listing_all(repo: Repo = None, json: Json = False) -> None:
            listed(repo, json)


_WHICH = "The id of a record, as `list` shows it."


def app_of(verb: str) -> typer.Typer:
    """The verbs below the verb of a pattern."""
    name = next(name for name, each in patterns.PATTERNS.items() if each.verb == verb)
    app = group(
        f"Hold a {name}: swarm {verb} FILE.toml. Or resume, show and list those on record. All take --json and "
        f"--repo.\n\nExample: swarm {verb} {name}.toml",
        "for a file of that name",
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

            from swarmgate.cli.council.run_session import run_session

            run_session(repo, terminal, work, resume_command=patterns.rules(name).resume_command(request.id))
            _finish(terminal, repo, name, request.id)

    add_resume(
        app,
        name,
        "Go on with one that was interrupted, after what is whole; exit codes as of `hold`.",
        lambda terminal, repo, _, record: _finish(terminal, repo, name, record),
        lambda council: partial(council.shared.resume, patterns.pattern(name)),
        which=_WHICH,
    )

    @app.command("show")
    def show(
        record: str = _id(name, _WHICH),
        events: Annotated[
            bool, typer.Option("--events", help="Replay it: what was told, a line of JSON each.")
        ] = False,
        repo: Repo = None,
        json: Json = False,
    ) -> None:
        """Show one that is on record, or replay it."""
        with boundary(json) as terminal:
            if events:
                found = _shared(repo).record(patterns.rules(name), record)
                terminal.text("".join(f"{each.model_dump_json()}\n" for each in found.replayed()))
            else:
                print_record(terminal, repo, name, record)

    add_list(
        app,
        name,
        "List those on record, the newest first.",
        lambda row: [row["id"], at(row["began"]), row["status"], gist(row["title"])],
    )
    return app


def print_record(terminal: Terminal, repo: Path | None, name: str, record: str) -> int:
    """Prints a record as the rules of its pattern have it; gives the exit code of that."""
    rules = patterns.rules(name)
    standing = _shared(repo).standing(rules, record)
    terminal.result(rules.data(standing), rules.lines(standing))
    return rules.exit_code(standing)


def _finish(terminal: Terminal, repo: Path | None, name: str, record: str) -> None:
    raise typer.Exit(print_record(terminal, repo, name, record))


def described(name: str, given: str, meant: str, hint: str) -> dict[str, Any]:
    """What the file says whose name is given in the place of words; empty: they are words.

    Args:
        name: of the pattern.
        given: on the command line.
        meant: what the words would be: `question`.
        hint: how a file is spoken about; as of `no_path`.

    Raises:
        CouncilRefused: the file cannot be read, or does not describe what the pattern holds.
        UsageError: another file, or a folder, has this name.
    """
    from swarmgate.council.requests.request_file import is_named

    if is_named(given):
        return patterns.reader(name)(Path(given))
    no_path(given, meant, f"{hint} A file that describes a {name} ends with .toml, .yaml or .json.")
    return {}


def council_of(repo: Path | None) -> Council:
    """The council of the project."""
    from swarmgate.engine.swarm import Swarm

    return Swarm(repo).council


def _id(name: str, which: str = "") -> Any:
    help_text = which or f"The id of a {name}, as `list` shows it."
    return typer.Argument(metavar="ID", callback=filled, help=help_text)


def _shared(repo: Path | None) -> Shared:
    from swarmgate.council.shared import Shared
    from swarmgate.project import Project

    return Shared(Project((repo or Path.cwd()).resolve()))


def _request(name: str, file: Path, record: str) -> Any:
    """The request that a file describes.

    Raises:
        CouncilRefused: it cannot be read, or a key is wrong; the message names file, line and key.
    """
    from pydantic import ValidationError

    from swarmgate.council.requests.request_file import begins, tables_of, text_of

    text = text_of(file, f"{name} file", hint=f"Give the path of a TOML file that describes a {name}.")
    try:
        return patterns.pattern(name).request.model_validate({"id": record, **tables_of(file, text)})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise CouncilRefused(
            f"{begins(file, text, first['loc'])}{first['msg'].removeprefix('Value error, ')}",
            hint="Mend that, then try again.",
        ) from None
