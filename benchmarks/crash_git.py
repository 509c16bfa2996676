"""Crash test: kill -9 of git, of swarm or of both whenever git touches a lock; counts the runs that resume alone.

    python benchmarks/crash_git.py [RUNS]

A program `git` that comes first on PATH runs the real one under strace, which kills it when it opens, renames or
removes a lock for the nth time; n counts up until git comes to its end. After each kill `swarm run` is started again,
nothing else is done, and tree, plan, commits and `swarm verify` must be as after a run that nobody killed. RUNS bounds
the number of kills. Target: all of them.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from crash import WAITING, finish, prepared, result, swarm, unittest_team

from swarmgate.workspace.process.background import serving

WRAPPER = """#!/bin/sh
case " $* " in *" {verb} "*)
  if [ -z "$GIT_INDEX_FILE" ] || [ {verb} = commit ]; then
    echo x >> {count}
    if [ "$(wc -l < {count})" -eq {turn} ]; then
      {kill}
    fi
  fi;;
esac
exec {git} "$@"
"""
TRACED = "{strace} -f -qq -o /dev/null {paths} -e trace={call} -e inject={call}:signal=SIGKILL:when={nth} {git} "
CALLS = ("openat", "rename", "unlink")
"""What git does with a lock: it makes it, puts it into its place, or gives it back."""
AFTER = {
    "git and swarm": '{traced} "$@"; code=$?; [ $code -eq 137 ] || {{ : > {passed}; exit $code; }}; kill -9 $PPID $$',
    "git": '{traced} "$@"; code=$?; [ $code -eq 137 ] || {{ : > {passed}; exit $code; }}; kill -9 $$',
    "swarm": "kill -9 $PPID; sleep 0.3; : > {passed}",
}
"""Who is killed -> what the program does at the chosen moment."""


class Place(NamedTuple):
    """Where a run is killed: the command, which one of its kind, and before which touch of a lock."""

    who: str
    verb: str
    turn: int
    call: str
    nth: int


def planted(place: Place, folder: Path, project: Path) -> Path:
    """A folder with the program `git` that kills there; it leaves a file `passed` where nothing was killed in git."""
    folder.mkdir()
    git = shutil.which("git")
    locks = ("index.lock", "HEAD.lock", "refs/heads/swarm/parts.lock", "packed-refs.lock")
    paths = " ".join(f"-P {project / '.git' / name}" for name in locks)
    traced = TRACED.format(strace=shutil.which("strace"), paths=paths, call=place.call, nth=place.nth, git=git)
    kill = AFTER[place.who].format(traced=traced, passed=folder / "passed")
    script = WRAPPER.format(verb=place.verb, count=folder / "count", turn=place.turn, kill=kill, git=git)
    (folder / "git").write_text(script)
    (folder / "git").chmod(0o755)
    return folder


def places() -> Iterator[Iterator[Place]]:
    """Series of places; one ends where git was not killed any more."""
    commands = [("switch", 1), ("commit", 2), ("update-index", 2)]
    for who, (verb, turn) in itertools.product(AFTER, commands):
        if who == "swarm":
            yield iter((Place(who, verb, turn, "", 1),))
            continue
        for call in CALLS:
            yield map(functools.partial(Place, who, verb, turn, call), itertools.count(1))


def killed(place: Place, folder: Path, programs: Path) -> bool:
    """Runs with the kill; False: this command of git has no such place."""
    path = os.environ["PATH"]
    os.environ["PATH"] = f"{planted(place, programs, folder)}:{path}"
    try:
        swarm(folder, "run").communicate()
    finally:
        os.environ["PATH"] = path
    return place.who == "swarm" or not (programs / "passed").exists()


def whole(folder: Path, expected: tuple[str, str, int]) -> str:
    """What is wrong after the run was started again; empty: nothing."""
    try:
        finish(folder, "run", code=WAITING)
        finish(folder, "verify")
    except SystemExit as error:
        return str(error)
    return "" if result(folder) == expected else "the result differs"


def main() -> None:
    bound = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    if not shutil.which("strace"):
        raise SystemExit("strace is not installed")
    resumed: Counter[tuple[str, str]] = Counter()
    tried: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name).resolve()
        script = place / "script.json"
        script.write_text(json.dumps({"rules": unittest_team()}))
        with serving([sys.executable, "-m", "swarmgate.testing", str(script), "--until-stdin-closes"]) as base_url:
            template = prepared(place, base_url)
            reference = place / "reference"
            shutil.copytree(template, reference, symlinks=True)
            finish(reference, "run", code=WAITING)
            expected = result(reference)
            numbers = itertools.count()
            for series in places():
                for at in series:
                    number = next(numbers)
                    folder = place / f"run-{number}"
                    shutil.copytree(template, folder, symlinks=True)
                    subprocess.run(["git", "-C", str(folder), "update-index", "-q", "--refresh"], check=False)
                    if number >= bound or not killed(at, folder, place / f"bin-{number}"):
                        break
                    tried[at.who, at.verb] += 1
                    problem = whole(folder, expected)
                    resumed[at.who, at.verb] += not problem
                    print(f"{at}: {problem or 'went on by itself'}", flush=True)
                    shutil.rmtree(folder)
    print(f"{'killed':<16}{'in the middle of':<20}{'kills':>6}{'went on by itself':>20}")
    for key, count in sorted(tried.items()):
        print(f"{key[0]:<16}{'git ' + key[1]:<20}{count:>6}{resumed[key]:>20}")
    print(f"{resumed.total()} of {tried.total()} went on by themselves")
    raise SystemExit(0 if resumed == tried else 1)


if __name__ == "__main__":
    main()
