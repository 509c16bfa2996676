"""`swarm sbom`: writes the software bill of materials of the work tree."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from swarmgate.terminal.options import Json, Repo, filled
from swarmgate.terminal.terminal import boundary


def command(
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", callback=filled, help="Write it there, in one step; print a summary."),
    ] = None,
    environment: Annotated[
        bool,
        typer.Option("--environment", help="Give unlocked Python dependencies the versions that are installed."),
    ] = False,
    everything: Annotated[
        bool, typer.Option("--all", help="Also what is locked and not brought by a plain install, as optional groups.")
    ] = False,
    spec: Annotated[
        str, typer.Option("--spec", metavar="VERSION", callback=filled, help="Of CycloneDX: 1.6 or 1.7.")
    ] = "1.6",
    repo: Repo = None,
    json: Json = False,
) -> None:
    """List the components of the project as CycloneDX JSON. This is the software bill of materials.

    They are those that manifests and lock files of the work tree name. The document goes to stdout and the summary to
    stderr; with --out the summary goes to stdout. Exit code 1 when a file cannot be read: the document then says that
    it is incomplete. 6 when there is no environment, or it cannot be read.

    Example: swarm sbom --environment --out sbom.cdx.json
    """
    with boundary(json) as terminal:
        from swarmgate.domain.text.printable import escaped
        from swarmgate.gates.verbs import sbom

        bill = sbom.make(repo, spec=spec, environment=environment, everything=everything)
        if out is None or out == Path("-"):
            terminal.text(escaped(bill.document.decode()))
            terminal.note("\n".join(bill.lines()))
        else:
            from swarmgate.terminal.result_file import check_out
            from swarmgate.workspace.files import atomic

            check_out(out, None, root=bill.root, force=True)
            atomic.replace(out, bill.document)
            about = f"CycloneDX {bill.spec}, {len(bill.document) / 1000:.1f} kB"
            terminal.result(bill.as_json(out), [*bill.lines(), f"Written to {out}: {about}"])
        raise typer.Exit(bill.exit_code)
