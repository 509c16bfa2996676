"""The boundary to the terminal: prints results to stdout and all else to stderr, and maps errors to exit codes."""

from __future__ import annotations

import json
import os
import sys
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import typer

from swarmgate.domain.text.printable import escaped
from swarmgate.errors import LimitReached, PlanError, PreflightFailed, Stopped, SwarmError, UnknownVariable, UsageError
from swarmgate.terminal.screen import laid_out
from swarmgate.version import __version__
from swarmgate.workspace.process import temporary


class Terminal:
    """Where one command prints: what steers a terminal, or turns the order of letters around, does not get through.

    `began` is when the command did, on the clock of `time.monotonic`.
    """

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.began = time.monotonic()

    def result(self, data: Any, lines: Sequence[str] = ()) -> None:
        """The result: `data` (JSON-ready, or a model) with `--json`, else the lines."""
        if self.as_json:
            sys.stdout.write(_to_json(data) + "\n")
        else:
            for line in laid_out(lines):
                typer.echo(line, color=True)  # nothing but our own colours is left in it
        sys.stdout.flush()

    def text(self, text: str) -> None:
        """A result that is written already, byte for byte: names that are no UTF-8 must not end the command."""
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.flush()

    def note(self, text: str) -> None:
        """Something on the side, for people only."""
        if not self.as_json:
            with suppress(OSError):  # a note is no result
                _tell(text)

    @contextmanager
    def telling_warnings(self) -> Iterator[None]:
        """Tells what the settings warn of while it is open, each sentence once; other warnings are Python's own."""
        shown = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
            if not issubclass(category, UnknownVariable):
                shown(message, category, *where, **more)
            elif self.as_json:
                self._json_note(str(message))
            else:
                self.note(f"swarm: {message}")

        with warnings.catch_warnings():
            warnings.simplefilter("once", UnknownVariable)
            warnings.showwarning = show
            yield

    def _json_note(self, text: str) -> None:
        """A line among those of progress."""
        from swarmgate.domain.progress import Progress
        from swarmgate.terminal.progress import json_line

        with suppress(OSError):
            json_line(Progress(kind="notice", text=text))


@contextmanager
def boundary(as_json: bool) -> Iterator[Terminal]:
    """Runs a command; maps what it raises to a message and the exit code of `swarmgate.errors`."""
    terminal = Terminal(as_json=as_json)
    try:
        with terminal.telling_warnings():
            yield terminal
    except typer.Exit:
        raise
    except SwarmError as error:
        raise _reported(error, as_json=as_json) from None
    except KeyboardInterrupt:
        stopped = Stopped("stopped at once. Nothing is lost.", hint="Go on with: swarm run")
        raise _reported(stopped, as_json=as_json) from None
    except typer.Abort:  # Ctrl-C or the end of the input, at a question of typer's
        stopped = Stopped("stopped: the question has no answer. Nothing is lost.", hint="Run the command again.")
        raise _reported(stopped, as_json=as_json) from None
    except BrokenPipeError:
        # The reader of our output went away (`swarm history | head`); there is nobody left to tell.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        refused = UsageError(f"{where}{error.strerror or error}", hint="Mend that and run the command again.")
        raise _reported(refused, as_json=as_json) from None
    except Exception as error:  # noqa: BLE001 - the boundary: a bug becomes a report and exit code 70
        bug = SwarmError(f"a bug: {type(error).__name__}: {error}", hint=f"A report was written to {_bug_report()}")
        raise _reported(bug, as_json=as_json) from None


def _reported(error: SwarmError, *, as_json: bool) -> typer.Exit:
    """Tells the user; returns the end of the command with the error's exit code."""
    with suppress(OSError):  # there may be nobody to tell: the exit code says it all the same
        report(error, as_json=as_json)
    return typer.Exit(error.exit_code)


def report(error: SwarmError, *, as_json: bool) -> None:
    """Tells the user what happened and what to do: on stderr, or as JSON on stdout."""
    problems = list(error.problems) if isinstance(error, (PlanError, PreflightFailed)) else []
    if as_json:
        result: dict[str, Any] = {
            "error": error.code,
            "message": error.message,
            "hint": error.hint,
            "exit_code": error.exit_code,
        }
        if isinstance(error, (LimitReached, Stopped)) and error.until:
            result["until"] = error.until.astimezone(UTC).isoformat(timespec="seconds")
        with suppress(OSError):  # stdout is what failed
            sys.stdout.write(escaped(json.dumps(result | ({"problems": problems} if problems else {}))) + "\n")
            sys.stdout.flush()
            return
    lines = [f"swarm: {error.message}", *(f"  - {problem}" for problem in problems)]
    _tell("\n".join([*lines, *([f"  -> {error.hint}"] if error.hint else [])]))


def _tell(text: str) -> None:
    typer.echo("\n".join(laid_out([text], sys.stderr)), err=True, color=True)


def _to_json(data: Any) -> str:
    if hasattr(data, "model_dump_json"):
        try:
            return escaped(str(data.model_dump_json(indent=2)))
        except ValueError:  # it holds a name that is no UTF-8
            data = data.model_dump(mode="json")
    return escaped(json.dumps(data, indent=2, ensure_ascii=False, default=_plain))


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else str(value)


def _bug_report() -> Path:
    stamp = datetime.now(UTC).strftime("%Y%m%dT%H%M%S")
    path = temporary.place() / f"swarmgate-bug-{stamp}-{os.getpid()}.txt"
    about = f"swarmgate {__version__}\nPython {sys.version}\n{sys.platform}\narguments: {sys.argv[1:]}\n\n"
    path.write_text(about + traceback.format_exc(), encoding="utf-8")
    return path
