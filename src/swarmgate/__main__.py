"""`python -m swarmgate` is `swarm`."""

from swarmgate.cli import main

if __name__ == "__main__":
    main()
