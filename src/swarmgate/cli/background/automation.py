"""`swarm automation`: shows which capabilities of automation are on, and switches them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from swarmgate.terminal.default_verb import DefaultVerb
from swarmgate.terminal.options import Json, Repo, filled
from swarmgate.terminal.terminal import boundary

if TYPE_CHECKING:
    from swarmgate.automation.capabilities import Capability, CapabilityReport

Name = Annotated[
    str,
    typer.Argument(metavar="NAME", callback=filled, help="A capability, such as phase_preflight; status names all."),
]
ModeName = Annotated[str, typer.Argument(metavar="MODE", callback=filled, help="manual, hybrid or auto.")]


class StatusOrSwitch(DefaultVerb):
    """The verbs of automation; without one its status is shown."""

    default = "status"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Puts `status` where nothing stands."""
        return super().parse_args(ctx, args or [self.default])


app = typer.Typer(
    cls=StatusOrSwitch,
    help="Show what happens beside the loop, and switch it on or off. Each verb "
    "below takes --json and --repo.\n\nExample: swarm automation on phase_preflight",
    rich_markup_mode=None,
    add_completion=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.command("status")
def status(repo: Repo = None, json: Json = False) -> None:
    """Show the mode, and for each capability whether it is on, what switched it, and how its worker stands.

    Example: swarm automation status
    """
    with boundary(json) as terminal:
        from swarmgate.engine.swarm import Swarm

        report = Swarm(repo).automation.capabilities()
        terminal.result(report, _lines(report))


@app.command("on")
def switch_on(name: Name, repo: Repo = None, json: Json = False) -> None:
    """Switch a capability on, whatever the mode says. A process that watches takes it up by itself.

    Example: swarm automation on phase_preflight
    """
    _switch(name, repo, on=True, json=json)


@app.command("off")
def switch_off(name: Name, repo: Repo = None, json: Json = False) -> None:
    """Switch a capability off, whatever the mode says.

    Example: swarm automation off evidence_auto_summaries
    """
    _switch(name, repo, on=False, json=json)


@app.command("mode")
def mode(mode: ModeName, repo: Repo = None, json: Json = False) -> None:
    """Set what is on where no key of its own says so: manual plan_sync alone, hybrid what only looks, auto all.

    Example: swarm automation mode hybrid
    """
    with boundary(json) as terminal:
        from swarmgate.automation.capabilities import require_mode
        from swarmgate.engine.swarm import Swarm

        require_mode(mode)
        report = Swarm(repo).automation.switch(mode, on=True)
        terminal.result(report, _lines(report))


def _switch(name: str, repo: Path | None, *, on: bool, json: bool) -> None:
    with boundary(json) as terminal:
        from swarmgate.automation.capabilities import require_capability
        from swarmgate.engine.swarm import Swarm

        require_capability(name)
        report = Swarm(repo).automation.switch(name, on=on)
        terminal.result(report, _lines(report))


def _lines(report: CapabilityReport) -> list[str]:
    from swarmgate.terminal.columns import columns

    rows = [[f"  {'on ' if each.on else 'off'}", each.name, each.why, _worker(each)] for each in report.capabilities]
    return [
        f"mode: {report.mode} ({report.mode_why})",
        *columns(rows),
        *(f"  {each.name}: {each.problem}" for each in report.capabilities if each.problem),
        f"  hooks: {report.hooks or 'none'}",
        f"watching: {report.watching or 'nobody (swarm watch; a run brings its own workers)'}",
        *(f"note: {each}" for each in report.told),
    ]


def _worker(each: Capability) -> str:
    if each.state is None:
        return ""
    waiting = f", {each.pending} waiting" if each.pending else ""
    return f"breaker {each.state.value}{waiting}"
