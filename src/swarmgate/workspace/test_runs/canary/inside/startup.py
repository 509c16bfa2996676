"""A `sitecustomize` script that makes every Python of a test run load the plugin for its test runner.

Copied as `sitecustomize.py` to the front of the path (`test_runs/canary/channel.py`), where nothing can write. It does
nothing but wait for the import of a runner: `_pytest.config` or `unittest.runner`. A Python that does not take
PYTHONPATH loads nothing, and runs as it always does.

Reads the file `places` beside it, JSON: the folder of the channel, and what variables were before the run.
"""

from __future__ import annotations

import contextlib
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - pathlib costs each start 10 ms
RUNNERS = ("_pytest.config", "unittest.runner")
_ENVELOPE = 60
"""Characters of a message besides its record, at most."""


class Line:
    """One runner's connection to the channel: sends signed records in order; the key is nowhere on the disk.

    What tests replace while they run (`os.write`, the whole of `os`) does not matter: it was taken before.
    """

    def __init__(self, name: str, key: bytes, plan: str, opened: Callable[[], int]) -> None:
        import hashlib  # noqa: PLC0415 - only a runner needs it
        import json  # noqa: PLC0415 - the same
        import select  # noqa: PLC0415 - the same

        self.plan = plan
        longest = select.PIPE_BUF - _ENVELOPE  # what is not longer is written in one piece
        stream = {"file": opened(), "pid": os.getpid(), "count": 0}
        sign, dumps, getpid, fstat, write = hashlib.blake2b, json.dumps, os.getpid, os.fstat, os.write
        own = fstat(stream["file"])

        def send(**record: Any) -> None:
            pid = getpid()
            if pid != stream["pid"]:  # forked: a stream of its own
                stream.update(pid=pid, count=0)
            body = dumps([pid, stream["count"], record], separators=(",", ":"))
            if len(body) > longest:
                whole = record["name"]
                shortened = whole[: longest // 12] + sign(whole.encode("utf-8", "replace"), digest_size=16).hexdigest()
                body = dumps([pid, stream["count"], {**record, "name": shortened}], separators=(",", ":"))
            stream["count"] += 1
            signature = sign(body.encode(), key=key, digest_size=16).hexdigest()
            message = f"{name} {signature} {body}\n".encode()
            try:
                now = fstat(stream["file"])
                if (now.st_dev, now.st_ino) != (
                    own.st_dev,
                    own.st_ino,
                ):  # a test closed it, and the number is another's
                    stream["file"] = opened()
            except OSError:
                stream["file"] = opened()
            write(stream["file"], message)

        self.send = send


def _opener(places: dict[str, Any]) -> Callable[[], int]:
    open_, blocking, fstat = os.open, os.set_blocking, os.fstat
    flags = os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC
    place, own = os.path.join(places["channel"], "pipe"), tuple(places["pipe"])  # noqa: PTH118 - pathlib is slow

    def opened() -> int:
        """Without a reader this fails, instead of waiting for one; so it does where something else took its place."""
        file = open_(place, flags)
        found = fstat(file)
        if (found.st_dev, found.st_ino) != own:
            raise OSError(place)
        blocking(file, True)
        return file

    return opened


class Claims:
    """Decides which runner of this process reports: the outermost one, not those that tests start."""

    def __init__(self, places: dict[str, Any]) -> None:
        self._places = places
        self.busy = False

    def claim(self) -> Line | None:
        """A line that nobody has taken; None where there is none, or another runner of this process has one."""
        if self.busy:
            return None
        folder = os.path.join(self._places["channel"], "sessions")  # noqa: PTH118 - pathlib is slow
        for name in os.listdir(folder):  # noqa: PTH208 - pathlib is slow
            if "." in name:
                continue
            place = os.path.join(folder, name)  # noqa: PTH118 - pathlib is slow
            mine = f"{place}.{os.getpid()}"
            try:
                os.rename(place, mine)  # noqa: PTH104 - pathlib is slow
                with open(mine, encoding="ascii") as file:  # noqa: PTH123 - pathlib is slow
                    key, plan = file.read().split()
                os.unlink(mine)  # noqa: PTH108 - pathlib is slow
                line = Line(name, bytes.fromhex(key), plan, _opener(self._places))
                line.send(kind="claimed")
            except (OSError, ValueError):
                continue
            self.busy = True
            return line
        return None

    def release(self) -> None:
        """The runner has come to its end."""
        self.busy = False

    def remove_traces(self) -> None:
        """What tests start is as it would be without us."""
        own = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each and each != HERE]
        for name, value in {**self._places["variables"], "PYTHONPATH": os.pathsep.join(own) or None}.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value

    @property
    def cases(self) -> str:
        """The file with the canaries' code."""
        return os.path.join(HERE, self._places["cases"])  # noqa: PTH118 - pathlib is slow


class _Watch:
    """Finds a runner as Python would, and loads its witness behind it."""

    def __init__(self, claims: Claims) -> None:
        self._claims = claims
        self._pytest = f"_{os.urandom(6).hex()}"
        """The name under which pytest loads its witness, as it loads its own plugins."""

    def find_spec(self, name: str, path: Any = None, _target: Any = None) -> Any:
        if name == self._pytest:
            return ModuleSpec(name, _Witness("pytest_witness.py", self._claims))  # type: ignore[arg-type]  # enough of one
        spec = PathFinder.find_spec(name, path) if name in RUNNERS else None
        if spec is None or spec.loader is None:
            return None
        spec.loader = _Runner(spec.loader, self)  # type: ignore[assignment]  # as much of a loader as is needed
        return spec

    def install(self, runner: Any) -> None:
        """Has a runner that was just imported speak to the channel."""
        if runner.__name__ == "_pytest.config":
            runner.default_plugins = (*runner.default_plugins, self._pytest)
            return
        witness = ModuleType(f"_{os.urandom(6).hex()}")
        _Witness("unittest_witness.py", self._claims).exec_module(witness)
        witness.install(runner)


class _Runner:
    """Loads a runner as its own loader does, and reports it."""

    def __init__(self, loader: Any, watch: _Watch) -> None:
        self._loader, self._watch = loader, watch

    def create_module(self, spec: Any) -> Any:
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        module.__loader__ = module.__spec__.loader = self._loader
        self._loader.exec_module(module)
        self._watch.install(module)


class _Witness:
    """Loads a file beside this one, as it was when this Python began."""

    def __init__(self, file: str, claims: Claims) -> None:
        self._place = os.path.join(HERE, file)  # noqa: PTH118 - pathlib is slow
        self._claims = claims

    def create_module(self, _spec: Any) -> None:
        return

    def exec_module(self, module: Any) -> None:
        with open(self._place, encoding="utf-8") as file:  # noqa: PTH123 - pathlib is slow
            code = compile(file.read(), self._place, "exec", dont_inherit=True)
        exec(code, module.__dict__)  # noqa: S102 - a file that nothing but swarmgate can write
        module.claims = self._claims


def hello(claims: Claims, word: str) -> None:
    """Reports, unsigned, that a Python is there that takes PYTHONPATH."""
    try:
        file = _opener(claims._places)()  # noqa: SLF001 - of this file
        os.write(file, f"{word}\n".encode())
        os.close(file)
    except OSError:
        return


def _next() -> None:
    """The environment's own `sitecustomize`, which this one stands before."""
    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is not None and spec.loader is not None:
        from importlib.util import module_from_spec  # noqa: PLC0415 - seldom needed

        spec.loader.exec_module(module_from_spec(spec))


def _start() -> None:
    import json  # noqa: PLC0415 - not where this file is merely read

    with open(os.path.join(HERE, "places"), encoding="utf-8") as file:  # noqa: PTH118, PTH123 - pathlib is slow
        claims = Claims(json.load(file))
    hello(claims, "python")
    watch = _Watch(claims)
    sys.meta_path.insert(0, watch)
    for name in RUNNERS:
        if name in sys.modules:
            watch.install(sys.modules[name])


if __name__ == "sitecustomize":
    sys.path[:] = [path for path in sys.path if path != HERE]
    with contextlib.suppress(OSError, ValueError):  # a run is as it would be without us
        _start()
    _next()
