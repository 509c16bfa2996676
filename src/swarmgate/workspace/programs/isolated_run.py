"""Runs a module of swarmgate in a new Python that imports nothing from a work tree (`trusted.module`).

python -P -m swarmgate.workspace.programs.isolated_run MODULE [ARGUMENT ...]
"""

import sys

from swarmgate.workspace.programs import import_path

if __name__ == "__main__":
    import_path.enter_current()
    import_path.keep_out()
    import runpy

    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
