"""`python -m swarmgate` is `swarm`."""

import sys

if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]  # the current folder, where a json.py of the project would stand before Python's own
    from swarmgate.cli import main

    main()
