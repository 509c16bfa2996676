"""Runs the scanner of one gate within its time limit and turns every failure into an outcome."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from swarmgate.errors import MissingRequirement, SwarmError, ToolKilled
from swarmgate.gates.adapters import ADAPTERS, command
from swarmgate.gates.outcome import Outcome
from swarmgate.gates.secret_scan import redaction
from swarmgate.workspace.process import table
from swarmgate.workspace.process.process import IDLE

if TYPE_CHECKING:
    from swarmgate.gates.definition import GateDefinition
    from swarmgate.gates.job import Job

_SHORTEST_S = 0.05
"""The shortest time between two looks at the processor's clock."""


async def run_scanner(gate: GateDefinition, job: Job) -> Outcome:
    """Run a gate's scanner within its time limit; every failure becomes an outcome, secrets are redacted."""
    return redaction.outcome(await _run(gate, job))


async def _run(gate: GateDefinition, job: Job) -> Outcome:
    adapter = ADAPTERS[gate.adapter] if gate.adapter else command.run
    limit = asyncio.timeout(None)
    watching = asyncio.create_task(_watch(job, limit))
    try:
        async with limit:
            outcome = await adapter(job)
        return Outcome(error=job.late) if job.stop.is_set() else outcome
    except ToolKilled as error:
        return Outcome(error=error.message, killed=True)
    except MissingRequirement as error:
        return Outcome(error=". ".join(filter(None, (error.message, gate.install_hint or error.hint))), missing=True)
    except SwarmError as error:
        return Outcome(error=error.message)
    except Exception as error:  # noqa: BLE001 - a broken scanner is a value: the run goes on and says so
        if isinstance(error, TimeoutError) and limit.expired():
            return Outcome(error=job.late)
        return Outcome(error=f"{type(error).__name__}: {error}")
    finally:
        watching.cancel()
        job.stop.set()


async def _watch(job: Job, limit: asyncio.Timeout) -> None:
    """End a gate's look when its time is over: its limit is of this process's processor time, not of the clock.

    What other programs of the machine take from it so costs it nothing. What computes no longer has nothing to wait
    for, unless a program runs for it, which has a limit of its own.
    """
    used, left = time.process_time(), job.timeout_s
    most = used + job.timeout_s
    while True:
        await asyncio.sleep(left)
        now = time.process_time()
        idle = now - used < IDLE * left and not table.starves_itself()
        if not job.progress.programs and (idle or now >= most):
            break
        used, left = now, min(max(most - now, _SHORTEST_S), job.timeout_s)
    # What looks in threads has to stop before what waits for it is cancelled: both would share the processor till then.
    job.stop.set()
    limit.reschedule(asyncio.get_running_loop().time())
