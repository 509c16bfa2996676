"""Records what every verb of the council prints and writes in scripted sessions, and compares two source trees.

    python benchmarks/council_sessions.py record DIR [SESSION ...]
    python benchmarks/council_sessions.py compare OLD NEW [SESSION ...] [--ignore-records]

`record` plays each session against the swarmgate of this interpreter, a process for each command: once as people read
it, once with `--json`. SESSION is the beginning of names; without any, all are meant. DIR gets a folder for each:
arguments, exit code, stdout and stderr of each command, the records in `.swarm/`, what was exported, and how often each
voice was asked. `compare` leaves aside what no two runs share (times, durations, ids, ports, temporary paths, hashes,
the order of progress), and ends with 1 where anything else differs. `--ignore-records` also leaves aside the inner
formats of records.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from sessions import chats, critiques, debates, decisions, discussions, dispatches, orchestrations
from sessions.difference import differences
from sessions.play import play, template
from sessions.session import Session

SESSIONS: tuple[Session, ...] = (
    *dispatches.SESSIONS,
    *debates.SESSIONS,
    *chats.SESSIONS,
    *discussions.SESSIONS,
    *decisions.SESSIONS,
    *critiques.SESSIONS,
    *orchestrations.SESSIONS,
)
AT_ONCE = 2


def record(into: Path, names: list[str]) -> int:
    """Plays the sessions whose names begin so, or all; 1 where one did not go as it was meant to."""
    wanted = [each for each in SESSIONS if not names or each.name.startswith(tuple(names))]
    began, wrong = time.perf_counter(), 0
    with tempfile.TemporaryDirectory(prefix="swarm-session-") as place:
        made = template(Path(place))

        def played(session: Session) -> list[str]:
            problems = []
            for form in ("plain", "json"):
                folder = into / session.name / form
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
                problems += [f"{session.name}, {form}: {each}" for each in play(session, form, made, folder)]
            return problems

        with ThreadPoolExecutor(AT_ONCE) as pool:
            for problems in pool.map(played, wanted):
                for line in problems:
                    print(line, file=sys.stderr, flush=True)
                wrong += bool(problems)
    calls = sum(1 for _ in into.glob("*/*/*/argv"))
    print(
        f"{len(wanted)} sessions, {calls} commands on record, {time.perf_counter() - began:.0f} s; {wrong} not as meant"
    )
    return 1 if wrong else 0


def compare(old: Path, new: Path, names: list[str], *, ignore_records: bool) -> int:
    """Prints every difference; 1 where there is one."""
    found = 0
    for difference in differences(old, new, tuple(names), ignore_records=ignore_records):
        found += 1
        print(difference)
    print(f"{found} differences")
    return 1 if found else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    recording = verbs.add_parser("record")
    recording.add_argument("into", type=Path)
    comparing = verbs.add_parser("compare")
    comparing.add_argument("old", type=Path)
    comparing.add_argument("new", type=Path)
    comparing.add_argument("--ignore-records", action="store_true")
    for each in (recording, comparing):
        each.add_argument("sessions", nargs="*", help="beginnings of their names; all without")
    given = parser.parse_args()
    if given.verb == "record":
        return record(given.into, given.sessions)
    return compare(given.old, given.new, given.sessions, ignore_records=given.ignore_records)


if __name__ == "__main__":
    raise SystemExit(main())
