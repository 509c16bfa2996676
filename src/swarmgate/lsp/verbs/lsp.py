"""`swarm lsp`: serves an editor over stdin and stdout."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from swarmgate.terminal.options import Repo
from swarmgate.terminal.terminal import boundary


def command(repo: Repo = None) -> None:
    """Serve an editor: findings of unsaved texts, and tasks of plan.md.

    It speaks the Language Server Protocol (LSP) over stdin and stdout, and the editor starts it: swarm docs editors has
    the settings of Neovim, VS Code and others. Nothing but the protocol is printed on stdout.

    Example: swarm lsp
    """
    with boundary(as_json=False):
        from swarmgate.errors import MissingRequirement

        if find_spec("pygls") is None:
            raise MissingRequirement(
                "The package of the Language Server Protocol is not installed.",
                hint="Add it to this installation: pip install 'swarmgate[lsp]'",
            )
        import gc

        from swarmgate.lsp.server import server_of
        from swarmgate.terminal.protocol_streams import claimed

        gc.enable()
        incoming, outgoing = claimed()
        server_of((repo or Path.cwd()).resolve()).start_io(incoming, outgoing)
