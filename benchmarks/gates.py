"""Measures the speed of `swarm gates run` against prek with hooks for the same tools.

    python benchmarks/gates.py [RUNS] [--quick]

Every case is one change to a repository of real modules (the standard library's), judged with every gate on. cold: the
compiled rules and modules are there, no verdict is. one edited: of ten files that were judged, one was edited again.
unchanged: the same command again. prek: its hooks one after the other, as by default. rival: all hooks at once and
semgrep's engine without its Python front end, the fastest honest setting. `--quick` leaves out 100 and 650 files.

Of each command three things are told: seconds of the clock, seconds of the processors (its own and those of all that it
starts, also of what outlives it), and the peak memory of all these processes together, shared pages counted once. On a
busy machine the clock says little: compare the processors' seconds, and only within one run.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import sysconfig
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import gates_peers as peers
import gates_projects as projects

RUNS = 5
MEGABYTES = 400
_SWARM = str(Path(sysconfig.get_path("scripts")) / "swarm")
_PASSED_OR_REJECTED = (0, 1)
_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of linux/prctl.h: what outlives its parent becomes our child, so that its time is counted."""


@dataclass(frozen=True)
class Case:
    """A row: `target` are seconds of the clock on two idle cores, `ratio` is that of prek (None: not asked)."""

    name: str
    files: int
    target: float
    ratio: float | None = None
    edited: bool = False
    again: bool = False
    runs: int | None = None


CASES = (
    Case("one file, cold", 1, 0.55, 0.6),
    Case("ten files, cold", 10, 1.2, 0.5),
    Case("ten files, one edited", 10, 0.3, edited=True),
    Case("ten files, unchanged", 10, 0.08, again=True),
    Case("100 files, cold", 100, 4.0, runs=1),
    Case("650 files, cold", 650, 20.0, runs=1),
)
_MANY = 650


@dataclass(frozen=True)
class Spent:
    """What one command took; `megabytes` is nan where it was not looked at."""

    wall: float
    cpu: float
    megabytes: float = float("nan")


class Machine:
    """The surroundings of every measured command: a home and a cache of their own, compiled modules, no colour."""

    def __init__(self, folder: Path) -> None:
        self.cache = folder / "cache"
        inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        # Users have compiled modules; a checkout may not.
        own = {"PYTHONPYCACHEPREFIX": folder / "compiled", "HOME": folder / "home", "XDG_CACHE_HOME": self.cache}
        path = f"{sysconfig.get_path('scripts')}{os.pathsep}{inherited['PATH']}"
        self.env = {**inherited, **{name: str(value) for name, value in own.items()}, "NO_COLOR": "1", "PATH": path}
        (folder / "home").mkdir()

    def forget(self) -> None:
        """Empty the gates' cache; compiled rules stay."""
        shutil.rmtree(self.cache / "swarmgate" / "gates", ignore_errors=True)

    def run(self, argv: list[str], folder: Path, *, weighed: bool = False) -> Spent:
        """What a command takes, which may pass or reject; with `weighed`, its memory, which slows it."""
        before, started = _used(), time.perf_counter()
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(argv, cwd=folder, env=self.env, stdout=output, stderr=output)
            weight = _Weight() if weighed else None
            code = process.wait()
            wall = time.perf_counter() - started
            megabytes = weight.end() if weight else float("nan")
            _gather()
            if code not in _PASSED_OR_REJECTED:
                output.seek(0)
                sys.exit(f"{' '.join(argv[:3])} ended with {code}: {output.read()[-2000:].decode(errors='replace')}")
        return Spent(wall, _used() - before, megabytes)


class _Weight:
    """Looks at the memory of all descendants of this process till `end`."""

    def __init__(self) -> None:
        self._peak, self._ended = 0.0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self) -> None:
        before = 0.0
        while not self._ended.wait(0.02):
            now = sum(map(_megabytes, _below(os.getpid())))
            # Twice in a row: a child that is about to become another program shows all of its parent's memory again.
            self._peak, before = max(self._peak, min(before, now)), now

    def end(self) -> float:
        self._ended.set()
        self._thread.join()
        return self._peak or float("nan")


def _used() -> float:
    taken = resource.getrusage(resource.RUSAGE_CHILDREN)
    return taken.ru_utime + taken.ru_stime


def _gather() -> None:
    """Wait for what outlived a command, for a minute at most."""
    until = time.monotonic() + 60
    with suppress(ChildProcessError):
        while time.monotonic() < until:
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(0.005)


def _below(pid: int) -> Iterator[int]:
    with suppress(OSError):
        text = "".join(path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children"))
        for child in map(int, text.split()):
            yield child
            yield from _below(child)


def _megabytes(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")) / 1024


class Judge(Protocol):
    """One tool over one change."""

    def __call__(self, number: int, *, weighed: bool = False) -> Spent:
        """What the run of this number takes."""
        ...


def _swarm(machine: Machine, project: Path, case: Case) -> Judge:
    judge = [_SWARM, "gates", "run"]

    def run(number: int, *, weighed: bool = False) -> Spent:
        if case.again:
            return machine.run(judge, project, weighed=weighed)
        mark = "same" if case.edited else f"cold_{number}"
        changed = projects.change(project, files=case.files, mark=mark)
        if case.edited:
            place = project / changed[-1]
            place.write_text(place.read_text().replace("added_same", f"edited_{number}"))
        else:
            machine.forget()
        return machine.run(judge, project, weighed=weighed)

    if case.edited or case.again:  # the second run is answered whole: the first may have fixed something
        projects.change(project, files=case.files, mark="same")
        for _ in range(2):
            machine.run(judge, project)
    return run


def _peer(machine: Machine, project: Path, case: Case, program: Path, *, rival: bool) -> Judge:
    def run(number: int, *, weighed: bool = False) -> Spent:
        peers.configure(project, rival=rival)
        changed = projects.change(project, files=case.files, mark=f"peer_{number}")
        try:
            return machine.run([str(program), "run", "--files", *changed], project, weighed=weighed)
        finally:
            (project / peers.CONFIG).unlink(missing_ok=True)

    return run


def measured(machine: Machine, project: Path, case: Case, prek: Path | None, runs: int) -> dict[str, list[Spent]]:
    """What each tool takes, by turns; the last of each is the one whose memory was looked at."""
    tools = {"swarm": _swarm(machine, project, case)}
    if case.ratio is not None and prek is not None:
        tools["prek"] = _peer(machine, project, case, prek, rival=False)
        tools["rival"] = _peer(machine, project, case, prek, rival=True)
        for name in ("prek", "rival"):
            tools[name](-1)  # compiles modules
    found: dict[str, list[Spent]] = {name: [] for name in tools}
    for number in range(case.runs or runs):
        for name, judge in tools.items():
            found[name].append(judge(number))
    for name, judge in tools.items():
        found[name].append(judge(runs, weighed=True))
    return found


def row(case: Case, found: dict[str, list[Spent]]) -> str:
    """One line of Markdown."""
    cells = [case.name, f"{case.target:g}"]
    for name in ("swarm", "prek", "rival"):
        if name not in found:
            cells += ["-"] * 3
            continue
        *timed, weighed = found[name]
        walls = [each.wall for each in timed]
        cells.append(f"{statistics.median(walls):.2f} ({min(walls):.2f})")
        cells += [f"{statistics.median([each.cpu for each in timed]):.2f}", f"{weighed.megabytes:.0f}"]
    ratios = []
    for name in ("prek", "rival"):
        pairs = list(zip(found["swarm"], found.get(name, ()), strict=False))[:-1]
        ratios += [
            f"{statistics.median([getattr(a, field) / getattr(b, field) for a, b in pairs]):.2f}"
            for field in (("wall", "cpu") if pairs else ())
        ]
    cells.append(f"{ratios[0]} / {ratios[1]}" + (f" ({case.ratio:g})" if case.ratio else "") if ratios else "-")
    cells.append(f"{ratios[2]} / {ratios[3]}" if ratios else "-")
    return f"| {' | '.join(cells)} |"


_HEAD = (
    "change", "target, wall s", "wall s (min)", "CPU s", "MB", "prek wall s", "CPU s", "MB", "rival wall s", "CPU s",
    "MB", "of prek, wall / CPU (target)", "of the rival, wall / CPU",
)  # fmt: skip


def inside(machine: Machine, project: Path, runs: int) -> str:
    """Medians inside a process that has judged before, as `swarm run` is one: another edit, and nothing changed."""
    script = [sys.executable, str(Path(__file__).with_name("gates_inside.py")), str(project), "10", str(runs)]
    done = subprocess.run(script, cwd=project, env=machine.env, capture_output=True, check=True, text=True)
    return ", ".join(f"{name} {statistics.median(each):.2f} s" for name, each in json.loads(done.stdout).items())


def main() -> None:
    numbers = [int(each) for each in sys.argv[1:] if each.isdigit()]
    runs = numbers[0] if numbers else RUNS
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)  # Linux; elsewhere, what outlives a command is not counted
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        machine = Machine(folder)
        prek = peers.program(folder)
        small = projects.make(folder / "small")
        machine.run([_SWARM, "gates", "run"], small)  # compiles modules and rules
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors; memory to stay below {MEGABYTES} MB")
        print(f"| {' | '.join(_HEAD)} |\n|{'---|' * len(_HEAD)}")
        large: Path | None = None
        for case in CASES:
            if case.files > len(projects.LONG) and "--quick" in sys.argv:
                continue
            if case.files > len(projects.LONG) and large is None:
                large = projects.make(folder / "large", files=_MANY)
            print(row(case, measured(machine, large or small, case, prek, runs)), flush=True)
        print(f"ten files inside of a process that has judged before: {inside(machine, small, runs)}")


if __name__ == "__main__":
    main()
