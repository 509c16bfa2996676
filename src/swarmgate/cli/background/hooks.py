"""`swarm hooks`: lists the user's hook commands, and tries one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from swarmgate.terminal.default_verb import DefaultVerb
from swarmgate.terminal.options import Json, Repo, filled
from swarmgate.terminal.terminal import boundary

if TYPE_CHECKING:
    from swarmgate.automation.hooks.report import Hook


class ListOrTry(DefaultVerb):
    """The verbs of hooks; without one they are listed."""

    default = "list"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Puts `list` where nothing stands."""
        return super().parse_args(ctx, args or [self.default])


app = typer.Typer(
    cls=ListOrTry,
    help="List your commands on events, or try one. "
    "They stand in [hooks] in .swarm/config.toml. All take --json and --repo.\n\n"
    "Example: swarm hooks try phase_closed",
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command("list")
def listing(repo: Repo = None, json: Json = False) -> None:
    """List the hooks: the event, the command, and how its newest run went, or why it never runs.

    Example: swarm hooks
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm
        from swarmgate.terminal.columns import columns

        report = Swarm(repo).automation.hooks()
        lines = columns([[each.event, each.command, _last(each)] for each in report.hooks])
        nothing = ["There are no hooks. Make one in .swarm/config.toml, such as:", "", "[hooks]", _EXAMPLE]
        terminal.result(report, [*(lines or nothing), *(f"note: {each}" for each in report.warnings)])


_EXAMPLE = 'phase_closed = "./scripts/phase-closed.sh"'


@app.command("try")
def trying(
    event: Annotated[str, typer.Argument(metavar="EVENT", callback=filled, help="The type of the event.")],
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Run the command of one event now, with a made-up event of that type, and show what it prints.

    Exit code 0 when the command's own is 0, else 1.

    Example: swarm hooks try phase_closed
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm

        report = Swarm(repo).automation.try_hook(event)
        notes = [f"note: {each}" for each in report.warnings]
        terminal.result(report, [*(line for each in report.hooks for line in _tried(each)), *notes])
        good = all(each.last is not None and each.last.exit_code == 0 for each in report.hooks)
        raise typer.Exit(0 if good else 1)


def _tried(hook: Hook) -> list[str]:
    output = hook.last.output.splitlines() if hook.last else []
    return [f"{hook.event}: {hook.command}", *(f"  {line}" for line in output), f"  {_last(hook)}"]


def _last(hook: Hook) -> str:
    """`exit code 0 in 0.1 s (2026-11-22 02:29:54 UTC)`."""
    from swarmgate.terminal.columns import at

    ran = hook.last
    if hook.problem:
        return f"NEVER RUNS: {hook.problem}"
    if ran is None:
        return "never ran"
    how = ran.problem or f"exit code {ran.exit_code}"
    return f"{how} in {ran.seconds:.1f} s ({at(hook.time)})"
