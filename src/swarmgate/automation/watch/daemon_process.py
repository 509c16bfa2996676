"""The main function of the daemon process that `swarm watch --daemon` starts.

It reads `{"root": ..., "flags": ..., "apart": ...}` on stdin: the variables that were kept from it, for what it runs
confined. It prints one line: `{"pid": ...}` when it watches, else why not.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from swarmgate.automation.ports import Ports
from swarmgate.automation.watch.foreground import watch
from swarmgate.domain.progress import Progress
from swarmgate.errors import SwarmError
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.files.watch_log import WatchLog
from swarmgate.project import Project
from swarmgate.workspace.programs import trusted


def main(ports: Ports) -> None:
    """Goes into the background, and watches."""
    given = json.loads(sys.stdin.buffer.read())
    trusted.recall(given["apart"])
    if os.fork():  # before there are threads
        os._exit(0)
    log = WatchLog(SwarmFolder(Path(given["root"])).watch_log, streams=(2,))

    def listener(progress: Progress) -> None:
        log.write(progress.text, time=progress.time)

    def begun() -> None:
        print(json.dumps({"pid": os.getpid()}), flush=True)  # noqa: T201 - whoever started it waits for this
        os.dup2(2, 1)

    try:
        project = Project(Path(given["root"]), listener=listener, flags=given["flags"])
        watch(project, ports, place="daemon", begun=begun)
    except SwarmError as error:
        log.write(f"{error.message} {error.hint}")
        failure = {"error": error.code, "message": error.message, "hint": error.hint}
        print(json.dumps(failure), flush=True)  # noqa: T201 - whoever started it waits for this
        sys.exit(error.exit_code)
