"""The built-in scanners, one module each. This table is the only registry."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.gates.adapters import build, diff, placeholders, ruff_check, ruff_fix, sast, sbom, secrets, syntax

if TYPE_CHECKING:
    from swarmgate.gates.job import Adapter

ADAPTERS: dict[str, Adapter] = {
    "build": build.run,
    "diff": diff.run,
    "placeholders": placeholders.run,
    "ruff_check": ruff_check.run,
    "ruff_fix": ruff_fix.run,
    "sast": sast.run,
    "sbom": sbom.run,
    "secrets": secrets.run,
    "syntax": syntax.run,
}
"""The name in a definition's `adapter` key, and who does it."""
