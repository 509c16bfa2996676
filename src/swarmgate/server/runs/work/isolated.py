"""Does one piece of work in a process of its own, forked from the warm one that workers are forked from.

What starts programs of a project is done there: variables belong to a process, so that no program of one project can
see a key of another, and keys can be withheld from it while threads of the server need them.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from swarmgate.errors import MissingRequirement, SwarmError, ToolKilled

T = TypeVar("T")


async def isolated(environ: Mapping[str, str], work: Callable[[], T]) -> T:
    """What `work` returns in a process of its own; whoever is cancelled here ends that.

    Args:
        environ: all of the process's variables.
        work: is called there; it and what it returns can be pickled.

    Raises:
        SwarmError: as `work` does.
        ToolKilled: the process was ended from outside.
        MissingRequirement: no process can be started.
    """
    process, answers = await asyncio.to_thread(_started, environ, work)
    try:
        value, error = await asyncio.to_thread(_received, answers)
    except asyncio.CancelledError:
        process.terminate()  # which ends the thread above, too
        raise
    finally:
        await asyncio.shield(asyncio.to_thread(process.join))
    if error is not None:
        raise error
    return value  # type: ignore[no-any-return]  # what `work` returned


def _started(environ: Mapping[str, str], work: Callable[[], Any]) -> tuple[BaseProcess, Connection]:
    context = multiprocessing.get_context("forkserver")
    answers, told = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(told, dict(environ), work))
    try:
        process.start()
    except OSError as error:
        answers.close()
        raise MissingRequirement(
            f"The server could not start a process: {error.strerror or error}.", hint="Try again when it has less to do"
        ) from error
    finally:
        told.close()
    return process, answers


def _received(answers: Connection) -> tuple[Any, BaseException | None]:
    with answers:
        try:
            return answers.recv()  # type: ignore[no-any-return]  # what `_work` sends
        except EOFError:
            return None, ToolKilled("The process that did it was ended from outside.", hint="Try again")


def _work(told: Connection, environ: Mapping[str, str], work: Callable[[], Any]) -> None:
    """Runs in the process, from its first line to its last."""
    with suppress(OSError):
        os.setsid()  # Ctrl-C at the server's terminal is the server's
    os.environ.clear()
    os.environ.update(environ)
    answer: tuple[Any, BaseException | None]
    try:
        answer = work(), None
    except SwarmError as error:
        answer = None, error
    except Exception as error:  # noqa: BLE001 - the boundary of the process: the server reports the bug
        answer = None, RuntimeError(f"{type(error).__name__} in a process of its own:\n{traceback.format_exc()}")
    with suppress(BrokenPipeError):  # the server is gone
        told.send(answer)
