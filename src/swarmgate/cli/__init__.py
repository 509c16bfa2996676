"""The command line, one file a verb: each parses its arguments, calls the facade `Swarm`, and prints the result."""

import os
import sys


def main() -> None:
    """The entry point of the `swarm` command."""
    keep_to_ourselves(sys.argv[1:])
    import gc

    # A short command ends before a collection pays off, and imports trigger many. Verbs that work on switch it on.
    gc.disable()
    _open_streams()
    try:
        if sys.argv[1:3] == ["gates", "run"]:
            _repeat()
        if sys.argv[1:2] == ["hook"]:
            _answer_hook()
        from swarmgate.cli.app import app

        app(prog_name="swarm")
    except SystemExit as ended:
        _end(ended.code if isinstance(ended.code, int) else int(ended.code is not None))
    except OSError as error:  # what no verb was at work to tell: the help, or a message, could not be written
        _end(0 if isinstance(error, BrokenPipeError) else _unwritten(error))


def _open_streams() -> None:
    """Opens what of stdin, stdout and stderr is closed (`>&-`), or the next file takes its number and is written to."""
    modes = {0: "stdin", 1: "stdout", 2: "stderr"}
    for number, name in modes.items():
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        if getattr(sys, name) is None:
            stream = open(number, "w" if number else "r", encoding="utf-8", closefd=False)  # noqa: SIM115 - a number
            setattr(sys, name, stream)


def keep_to_ourselves(arguments: list[str]) -> None:
    """Take what leads into work trees from where this process finds modules, programs and libraries.

    It comes before any other import, since PYTHONPATH may lead there. The trees are those of the current folder and of
    what `--repo` names, and any that swarmgate works in.
    """
    from swarmgate.workspace.programs import import_path

    import_path.enter_current()
    for before, word in zip(["", *arguments], arguments, strict=False):
        if before == "--repo" or word.startswith("--repo="):
            import_path.enter(word.removeprefix("--repo="))
    import_path.keep_out()
    from swarmgate.workspace.programs import trusted

    trusted.keep_out()


def _repeat() -> None:
    """End with what the same command said before, where nothing changed since."""
    from swarmgate.gates.verbs import answer_cache

    known = answer_cache.attempt(sys.argv[1:])
    if known is not None:
        sys.stdout.buffer.write(known.text.encode("utf-8", "surrogateescape"))
        _end(known.exit_code)


def _answer_hook() -> None:
    """End with the answer to another program's hook, where the command line asks for just that."""
    from importlib import import_module

    code = import_module("swarmgate.agent_hooks.entry").attempt(sys.argv[1:])
    if code is not None:
        _end(code)


def _unwritten(error: OSError) -> int:
    """Tells, where that can be, that the output could not be written; gives the exit code."""
    import contextlib

    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(f"swarm: the output could not be written: {error.strerror or error}\n")
        sys.stderr.flush()
    return 2


def _end(code: int) -> None:
    import contextlib

    # Taking down some 400 modules again would be a sixth of a short command's time; only this is left to clean up.
    if used := sys.modules.get("swarmgate.workspace.process.temporary"):
        used.leave()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        pass  # the reader has seen enough
    except OSError as error:
        code = code or _unwritten(error)
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.flush()
    os._exit(code)
