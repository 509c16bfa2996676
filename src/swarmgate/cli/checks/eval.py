"""`swarm eval`: measures how often the gates and the debates are right, on labelled data."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from swarmgate.errors import UsageError
from swarmgate.terminal.options import Json, Repo, filled
from swarmgate.terminal.terminal import boundary
from swarmgate.terminal.verb_group import VerbGroup

Wait = Annotated[
    float,
    typer.Option(
        "--wait", metavar="S", min=0, help="With --fleet: seconds without any answer until it ends, resumable."
    ),
]

app = typer.Typer(
    cls=VerbGroup,
    help="Measure on labelled data how often gates and debates are right.",
    no_args_is_help=True,
    rich_markup_mode=None,
    add_completion=False,
)


@app.command("gates")
def gates(
    sets: Annotated[list[str] | None, typer.Argument(metavar="SET[=PATH]", help="Labelled sets; see `list`.")] = None,
    gate: Annotated[list[str] | None, typer.Option("--gate", metavar="GATE", help="Only cases of this gate.")] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", min=1, help="At most N cases of a set, chosen at random.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of the random choice.")] = 0,
    fleet: Annotated[bool, typer.Option("--fleet", help="Have the workers of the fleet judge, a set each.")] = False,
    wait: Wait = 3600,
    json: Json = False,
) -> None:
    """Print hits, false alarms and misses of the gates on labelled sets; without a set, on those made on the spot.

    Example: swarm eval gates stubs owasp=../BenchmarkPython
    """
    with boundary(json) as terminal:
        from swarmgate.evaluation.gates import evaluate
        from swarmgate.evaluation.report import lines

        if fleet:
            spread = import_module("swarmgate.fleet.evaluation").gates
            report = spread(tuple(sets or ()), gates=tuple(gate or ()), sample=sample, seed=seed, wait_s=wait)
        else:
            report = evaluate(tuple(sets or ()), gates=tuple(gate or ()), sample=sample, seed=seed)
        terminal.result(report, lines(report))


@app.command("debate")
def debate(
    fixtures: Annotated[
        Path, typer.Option("--fixtures", metavar="FILE", callback=filled, help="Labelled items, a JSON line each.")
    ],
    models: Annotated[
        str, typer.Option("--models", metavar="A,B", callback=filled, help="Models, provider/model each.")
    ],
    rounds: Annotated[int, typer.Option("--rounds", metavar="N", min=1, max=5, help="Rounds of a debate.")] = 2,
    participants: Annotated[
        int, typer.Option("--participants", metavar="N", min=2, max=8, help="Voices of a debate.")
    ] = 3,
    repeats: Annotated[
        int | None,
        typer.Option(
            "--repeats",
            metavar="N",
            min=1,
            max=100,
            help="How often each arm judges each item; at least 3, and a multiple of the models.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of the order, the choice and the bootstrap.")] = 0,
    limit: Annotated[
        int | None, typer.Option("--limit", metavar="N", min=1, help="At most N items, chosen at random.")
    ] = None,
    budget_usd: Annotated[
        float | None, typer.Option("--budget-usd", metavar="X", min=0, help="US dollars that this run may spend.")
    ] = None,
    budget_tokens: Annotated[
        int | None, typer.Option("--budget-tokens", metavar="N", min=0, help="Tokens that this run may use.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", callback=filled, help="Where the report goes; .swarm/runtime/eval/ID."),
    ] = None,
    arms: Annotated[
        str, typer.Option("--arms", metavar="A,B", callback=filled, help="Which of single, parallel and debate.")
    ] = "single,parallel,debate",
    decision: Annotated[
        bool | None,
        typer.Option(
            "--write-decision/--no-decision",
            help="Write the decision to .swarm/debate-worth.json also where it is NOT SURE, or never.",
        ),
    ] = None,
    part: Annotated[
        str, typer.Option("--part", metavar="I/N", help="Of N parts of the items only the I-th; it decides nothing.")
    ] = "",
    fleet: Annotated[bool, typer.Option("--fleet", help="Have the workers of the fleet judge, an item each.")] = False,
    wait: Wait = 3600,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Measure whether debates are more often right than as many independent ballots, on labelled designs and patches.

    Example: swarm eval debate --fixtures examples/eval/designs.jsonl --models local/a,local/b
    """
    with boundary(json) as terminal:
        import gc
        from time import monotonic

        gc.enable()
        began = monotonic()
        from swarmgate.domain.progress import Progress
        from swarmgate.domain.usage import Allowance
        from swarmgate.errors import Stopped
        from swarmgate.evaluation.debate.experiment_arms import Part
        from swarmgate.evaluation.debate.harness import evaluate, setup_of
        from swarmgate.evaluation.debate.report import lines
        from swarmgate.terminal.progress import listener

        numbers = {"rounds": rounds, "participants": participants, "repeats": repeats, "seed": seed, "limit": limit}
        setup, wanted = setup_of(models, arms, **numbers), Part.named(part)
        if fleet and part:
            raise UsageError("--fleet judges all items, and --part some of them.", hint="Leave one of the two away.")
        with listener(as_json=json) as listen:
            try:
                report = evaluate(
                    fixtures,
                    setup,
                    start=repo,
                    allowance=Allowance(usd=budget_usd, tokens=budget_tokens),
                    out=out,
                    write_decision=decision,
                    part=wanted,
                    elsewhere=_spread("debate", repo, fixtures, wait_s=wait, tell=terminal.note) if fleet else None,
                    on_progress=lambda text: listen(Progress(kind="notice", text=text, seconds=monotonic() - began)),
                )
            except KeyboardInterrupt:
                hint = "Run the same command again: what was answered is kept and not asked again."
                raise Stopped("stopped at once. Nothing is lost.", hint=hint) from None
        terminal.result(report, lines(report))
        raise typer.Exit(report.exit_code)


@app.command("patches")
def patches(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="Patches, a JSON line each: predictions, or your own.")],
    repos: Annotated[
        Path | None, typer.Option("--repos", metavar="DIR", callback=filled, help="Holds a clone of each repository.")
    ] = None,
    instances: Annotated[
        Path | None, typer.Option("--instances", metavar="FILE", callback=filled, help="What predictions are for.")
    ] = None,
    labels: Annotated[
        str, typer.Option("--labels", metavar="FILE[#KEY]", help="Which predictions are right: ids, `resolved_ids`.")
    ] = "",
    fixes: Annotated[
        bool, typer.Option("--fixes", help="Replay the instances' own patches, too, as right ones.")
    ] = False,
    arms: Annotated[
        str, typer.Option("--arm", metavar="A,B", callback=filled, help="Of gates, tests, proof and review.")
    ] = "gates",
    model: Annotated[
        str, typer.Option("--model", metavar="M", help="Asked in each role of the arm review; the settings' own.")
    ] = "",
    half: Annotated[
        str, typer.Option("--half", metavar="H", help="Only one half, by the hash of the id: tuning, held.")
    ] = "",
    only: Annotated[str, typer.Option("--only", metavar="TEXT", help="Only patches whose id begins so.")] = "",
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", min=1, help="At most N of each model and label, at random.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of the random choice.")] = 0,
    jobs: Annotated[int, typer.Option("--jobs", metavar="N", min=1, max=64, help="Patches at the same time.")] = 1,
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", callback=filled, help="Rows and report; ./swarm-eval-patches."),
    ] = None,
    fleet: Annotated[bool, typer.Option("--fleet", help="Have the workers of the fleet replay, a patch each.")] = False,
    wait: Wait = 3600,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Replay patches of real agents, right and wrong ones, and print which of them would have got in.

    Killed or stopped, the same command goes on. Nothing is fetched.

    Example: swarm eval patches preds.jsonl --instances instances.jsonl --labels report.json --repos ../clones
    """
    with boundary(json) as terminal:
        from swarmgate.errors import EndpointFailed, Stopped
        from swarmgate.evaluation.patches import measure as patches_measure
        from swarmgate.evaluation.patches.dataset import load
        from swarmgate.evaluation.patches.report import lines

        if fleet == (repos is not None) or (fleet and jobs > 1):
            raise UsageError(
                "--repos and --jobs are of this machine, --fleet is of others, which have clones of their own.",
                hint="Name --repos DIR, or --fleet; workers find theirs by [fleet] clones of their machine.",
            )
        asked = patches_measure.request(arms, half=half, only=only, sample=sample, seed=seed)
        known = load(data, instances=instances, labels=labels, fixes=fixes)
        try:
            report = patches_measure.measure(
                asked.selection.of(known),
                repos,
                asked.arms,
                config=patches_measure.settings(repo),
                model=model,
                jobs=jobs,
                out=out or patches_measure.FOLDER,
                elsewhere=_spread("patches", repo, arms=asked.arms, model=model, wait_s=wait, tell=terminal.note)
                if fleet
                else None,
                on_row=lambda row, done, total: terminal.note(
                    f"{done}/{total} {row.arm} {row.id}: {row.trouble or row.blocked or 'got in'} ({row.seconds:.1f} s)"
                ),
            )
        except KeyboardInterrupt:
            hint = "Run the same command again: the rows that were made are kept."
            raise Stopped("stopped at once. Nothing is lost.", hint=hint) from None
        terminal.result(report, lines(report))
        if fleet and any(row.trouble for row in report.rows):
            raise typer.Exit(EndpointFailed.exit_code)


@app.command("alone")
def alone(
    instances: Annotated[
        Path, typer.Argument(metavar="INSTANCES", help="Tasks as SWE-bench has them, with hidden tests; JSON lines.")
    ],
    repos: Annotated[
        Path, typer.Option("--repos", metavar="DIR", callback=filled, help="Holds a clone of each repository.")
    ],
    model: Annotated[
        str, typer.Option("--model", metavar="MODEL", callback=filled, help="The model of both, provider/model.")
    ],
    arms: Annotated[
        str, typer.Option("--arms", metavar="A,B", callback=filled, help="mini-swe-agent, swarmgate, or both.")
    ] = "mini-swe-agent,swarmgate",
    only: Annotated[str, typer.Option("--only", metavar="TEXT", help="Tasks whose id begins so.")] = "",
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", min=1, help="At most N tasks, chosen at random.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Of the random choice.")] = 0,
    tokens: Annotated[
        int | None, typer.Option("--tokens", metavar="N", min=1, help="Most tokens of a task, for each arm.")
    ] = None,
    seconds: Annotated[
        int, typer.Option("--seconds", metavar="N", min=0, help="Most seconds of a task, for each arm; 0: no bound.")
    ] = 0,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", callback=filled, help="Rows and report; swarm-eval-alone.")
    ] = None,
    repo: Repo = None,
    json: Json = False,
) -> None:
    """Have mini-swe-agent and swarmgate do the same tasks with the same model, and compare what hidden tests say.

    Killed or stopped, the same command goes on. Nothing is fetched.

    Example: swarm eval alone instances.jsonl --repos clones --model local/coder-1 --sample 20
    """
    with boundary(json) as terminal:
        from swarmgate.errors import Stopped
        from swarmgate.evaluation.alone.measure import FOLDER, measure, request
        from swarmgate.evaluation.alone.report import lines
        from swarmgate.evaluation.patches.dataset import read_instances
        from swarmgate.project import settings_at

        asked = request(model, arms, only=only, sample=sample, seed=seed, tokens=tokens, seconds=seconds)
        try:
            report = measure(
                tuple(read_instances(instances)),
                repos,
                asked,
                config=settings_at((repo or Path.cwd()).resolve())[1],
                out=out or FOLDER,
                on_row=lambda row, done, total: terminal.note(
                    f"{done}/{total} {row.arm} {row.id}: {row.trouble or f'{row.ended}; hidden tests: {row.hidden}'}"
                ),
            )
        except KeyboardInterrupt:
            hint = "Run the same command again: tasks that ended are kept and not done again."
            raise Stopped("stopped at once. Nothing is lost.", hint=hint) from None
        terminal.result(report, lines(report))


def _spread(what: str, start: Path | None, *given: Any, **more: Any) -> Any:
    """What has the fleet do a measurement; another face, which is found by its name when it is used."""
    face = import_module("swarmgate.fleet.evaluation")
    return getattr(face, what)(face.Fleet(start), *given, **more)


@app.command("list")
def listing(json: Json = False) -> None:
    """List the labelled sets: what each measures, and what data it needs.

    Example: swarm eval list
    """
    with boundary(json) as terminal:
        from swarmgate.evaluation.gates import known

        sets = known()
        width = max(map(len, sets))
        terminal.result(dict(sets), [f"{name:<{width}}  {about}" for name, about in sets.items()])
