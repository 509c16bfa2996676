"""Lets the scanner of one gate look, within its time; whatever goes wrong becomes an outcome."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from swarmgate.errors import MissingRequirement, SwarmError, ToolKilled
from swarmgate.gates import command, masking
from swarmgate.gates.adapters import ADAPTERS
from swarmgate.gates.outcome import Outcome

if TYPE_CHECKING:
    from swarmgate.gates.definition import GateDefinition
    from swarmgate.gates.job import Job

_GRACE_S = 1.0
"""A command ends its own processes at the time limit; what does not is cancelled from outside, this much later."""


async def look(gate: GateDefinition, job: Job) -> Outcome:
    """Let the gate's scanner run within its time; whatever goes wrong becomes an outcome, which holds no secret."""
    return masking.outcome(await _look(gate, job))


async def _look(gate: GateDefinition, job: Job) -> Outcome:
    adapter = ADAPTERS[gate.adapter] if gate.adapter else command.run
    own_limit = 0.0 if gate.adapter and not gate.reads_files else _GRACE_S
    limit = asyncio.timeout(job.timeout_s + own_limit)
    # What looks in threads has to stop before what waits for it is cancelled: both would share the processor till then.
    stopping = asyncio.get_running_loop().call_later(job.timeout_s + own_limit, job.stop.set)
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
        stopping.cancel()
        job.stop.set()
