"""The entry point of `swarm watch --daemon`: this module is run, not imported."""

from __future__ import annotations

from swarmgate.automation.watch.daemon_process import main
from swarmgate.engine.automation_ports import EnginePorts

if __name__ == "__main__":
    main(EnginePorts())
