"""How fast `swarm gates run` is with every gate on, beside prek and pre-commit with hooks for the same tools.

    python benchmarks/gates.py [RUNS] [--quick]

One-file and ten-file changes (files of about 920 lines) in a repository of 12 and one of 3,000 files. cold: nothing
runs and no cache; edited: a file is edited again, the cache knows the others and the base; unchanged: the same command
again; warm: another edit inside a process that has judged before, as in `swarm run`. rival: prek with all hooks at once
and semgrep's engine without its Python front end. `--quick`: the small repository, no scaling.

A busy machine slows all columns: compare within one run. Minima stand beside the medians, and the CPU seconds that each
command takes with all it starts, which depend less on who else is at work.
"""

from __future__ import annotations

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
from collections.abc import Callable
from pathlib import Path

import gates_peers as peers
import gates_projects as projects

RUNS = 7
TARGETS = {("small", 1): (0.5, 0.3), ("small", 10): (1.15, 0.8), ("large", 1): (0.75, 0.3), ("large", 10): (1.4, 0.8)}
"""Seconds cold and warm."""
UNCHANGED, UNCHANGED_INSIDE, TIMES_PREK, MEGABYTES = 0.15, 0.05, 4.0, 400
SCALE = (1, 10, 100, 1000)

_SWARM = str(Path(sysconfig.get_path("scripts")) / "swarm")
_PASSED_OR_REJECTED = (0, 1)


class Machine:
    """The surroundings of every measured command: a home and a cache of their own, compiled modules, no colour."""

    def __init__(self, folder: Path) -> None:
        self.cache = folder / "cache"
        self.cpu = 0.0
        kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        # Users have compiled modules; a checkout may not.
        own = {"PYTHONPYCACHEPREFIX": folder / "compiled", "HOME": folder / "home", "XDG_CACHE_HOME": self.cache}
        path = f"{sysconfig.get_path('scripts')}{os.pathsep}{kept['PATH']}"
        self.env = {**kept, **{name: str(value) for name, value in own.items()}, "NO_COLOR": "1", "PATH": path}
        (folder / "home").mkdir()

    def forget(self) -> None:
        """Empty the gates' cache."""
        shutil.rmtree(self.cache / "swarmgate", ignore_errors=True)

    def run(self, argv: list[str], folder: Path) -> float:
        """Seconds that a command takes; it may pass or reject. `cpu` is then what it used."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        started = time.perf_counter()
        done = subprocess.run(argv, cwd=folder, env=self.env, capture_output=True, check=False, text=True)
        taken = time.perf_counter() - started
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        self.cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if done.returncode not in _PASSED_OR_REJECTED:
            sys.exit(f"{' '.join(argv[:3])} ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return taken

    def memory(self, argv: list[str], folder: Path) -> float:
        """Peak megabytes of a command and all that it starts, shared pages counted once; nan without /proc."""
        process = subprocess.Popen(argv, cwd=folder, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        peak, ended = float("nan"), threading.Event()
        while process.poll() is None and not ended.wait(0.01):
            now = sum(_megabytes(pid) for pid in _family(process.pid))
            peak = max(peak, now) if peak == peak else now  # noqa: PLR0124 - nan
        return peak


def _family(pid: int) -> list[int]:
    try:
        text = "".join(path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children"))
    except OSError:
        return [pid]
    return [pid, *(each for child in text.split() for each in _family(int(child)))]


def _megabytes(pid: int) -> float:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")) / 1024


def measured(runs: int, work: Callable[[int], float]) -> list[float]:
    return [work(number) for number in range(runs)]


def shown(times: list[float]) -> str:
    return f"{statistics.median(times):5.2f} ({min(times):4.2f})" if times else "not available"


def command(machine: Machine, project: Path, files: int, runs: int) -> dict[str, list[float]]:
    """Seconds of `swarm gates run`: cold, edited, unchanged."""
    judge = [_SWARM, "gates", "run"]

    def cold(number: int) -> float:
        projects.change(project, files=files, mark=f"cold_{number}")
        machine.forget()
        return machine.run(judge, project)

    def edited(number: int) -> float:
        place = project / projects.change(project, files=files, mark="same")[-1]
        machine.run(judge, project)
        place.write_text(place.read_text().replace("added_same", f"edited_{number}"))
        return machine.run(judge, project)

    machine.run(judge, project)  # compiles modules
    times = {"cold": measured(runs, cold)}
    used = [f"cold {machine.cpu:.2f}"]
    times["edited"] = measured(runs, edited)
    used.append(f"edited {machine.cpu:.2f}")
    machine.run(judge, project)
    times["unchanged"] = measured(runs, lambda _: machine.run(judge, project))
    print(f"{'':>15}CPU s: {', '.join(used)}, unchanged {machine.cpu:.2f}", end="")
    return times


def inside(machine: Machine, project: Path, files: int, runs: int) -> dict[str, list[float]]:
    """Seconds inside a process that has judged before: another edit, and nothing changed."""
    script = [sys.executable, str(Path(__file__).with_name("gates_inside.py")), str(project), str(files), str(runs)]
    done = subprocess.run(script, cwd=project, env=machine.env, capture_output=True, check=True, text=True)
    return dict(json.loads(done.stdout))


def beside(
    machine: Machine, project: Path, files: int, runs: int, have: dict[str, Path | None]
) -> dict[str, list[float]]:
    """Seconds of the peers over the same change."""
    times: dict[str, list[float]] = {}
    cases = (("prek", "prek", False), ("pre-commit", "pre-commit", False), ("rival", "prek", True))
    for name, program, rival in cases:
        path = have[program]
        if path is None:
            times[name] = []
            continue
        peers.configure(project, rival=rival)

        def once(number: int, path: Path = path) -> float:
            changed = projects.change(project, files=files, mark=f"peer_{number}")
            return machine.run([str(path), "run", "--files", *changed], project)

        once(-1)
        times[name] = measured(max(3, runs // 2), once)
        print(f", {name} {machine.cpu:.2f}", end="")
    (project / peers.CONFIG).unlink(missing_ok=True)
    print()
    return times


def table(machine: Machine, folder: Path, sizes: dict[str, int], runs: int) -> None:
    have = peers.programs(folder)
    head = ("repo", "files", "cold", "edited", "unchanged", "warm", "unch. inside", "prek", "pre-commit", "rival")
    print("seconds: median (minimum)\n" + "  ".join(f"{each:>13}" for each in head))
    for size, count in sizes.items():
        project = projects.make(folder / size, files=count)
        for files in (1, 10):
            times = command(machine, project, files, runs) | inside(machine, project, files, runs)
            times |= beside(machine, project, files, runs, have)
            columns = ("cold", "edited", "unchanged", "warm", "unchanged inside", "prek", "pre-commit", "rival")
            cells = [size, str(files), *(shown(times[name]) for name in columns)]
            print("  ".join(f"{cell:>13}" for cell in cells))
            verdicts(times, TARGETS[size, files])


def verdicts(times: dict[str, list[float]], target: tuple[float, float]) -> None:
    """One line: targets met or missed, by medians."""
    now = {name: statistics.median(each) for name, each in times.items() if each}
    said = [_against(name, now[name], limit) for name, limit in zip(("cold", "warm"), target, strict=True)]
    said += [_against("unchanged", now["unchanged"], UNCHANGED)]
    said += [_against("unchanged inside", now["unchanged inside"], UNCHANGED_INSIDE)]
    for name, times_faster in (("prek", TIMES_PREK), ("pre-commit", TIMES_PREK), ("rival", 1.0)):
        if name in now:
            ratio = now[name] / now["cold"]
            said.append(f"{ratio:.1f} x {name}{'' if ratio >= times_faster else f' (target {times_faster:g})'}")
    print(f"{'':>15}{'; '.join(said)}")


def _against(name: str, value: float, limit: float) -> str:
    return f"{name} {'ok' if value <= limit else f'{value:.2f} > {limit:g}'}"


def memory(machine: Machine, folder: Path) -> None:
    project = projects.make(folder / "memory", files=12)
    projects.change(project, files=10, mark="memory")
    machine.forget()
    peak = machine.memory([_SWARM, "gates", "run"], project)
    print(f"peak memory, ten files, all processes together: {peak:.0f} MB (target {MEGABYTES})")


def scaling(machine: Machine, folder: Path) -> None:
    project = projects.make(folder / "scale", files=max(SCALE) + 12)
    taken = {}
    for files in SCALE:
        projects.change(project, files=files, mark="scale")
        machine.forget()
        taken[files] = machine.run([_SWARM, "gates", "run"], project)
    print("changed files: " + ", ".join(f"{files}: {seconds:.2f} s" for files, seconds in taken.items()))
    fewer, more = (taken[files] for files in SCALE[-2:])
    linear = SCALE[-1] / SCALE[-2]
    print(f"from {SCALE[-2]} to {SCALE[-1]} files: {more / fewer:.1f} times as long (linear: at most {linear:g})")


def main() -> None:
    numbers = [int(each) for each in sys.argv[1:] if each.isdigit()]
    quick = "--quick" in sys.argv
    runs = numbers[0] if numbers else RUNS
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name).resolve()
        machine = Machine(folder)
        table(machine, folder, {"small": 12} if quick else {"small": 12, "large": 3000}, runs)
        memory(machine, folder)
        if not quick:
            scaling(machine, folder)


if __name__ == "__main__":
    main()
