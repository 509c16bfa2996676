"""Compares the rules of the gate `sast_scan` with those of a revision, byte by byte.

    python benchmarks/sast_rules.py [REVISION]

For changes of how the rules are written, which shall change nothing of what they say. Ends with 1 where one differs.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from swarmgate import assets
from swarmgate.gates.sast import rules


def compiled(folder: Path) -> list[bytes]:
    """The rules below a folder in their order: what the engine gets, and what the flows are read from."""
    every = rules.load_from(folder)
    return [json.dumps([rule.raw, rule.needs, rule.raw_flow], sort_keys=True).encode() for rule in every]


def main() -> None:
    revision = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    root = Path(__file__).resolve().parent.parent
    archive = ["git", "archive", revision, "gates/rules/sast"]
    done = subprocess.run(archive, cwd=root, capture_output=True, check=True)
    with tempfile.TemporaryDirectory() as name, tarfile.open(fileobj=io.BytesIO(done.stdout)) as files:
        files.extractall(name, filter="data")
        before = compiled(Path(name) / "gates" / "rules" / "sast")
    now = compiled(assets.gates() / "rules" / "sast")
    lines = sum(len(path.read_bytes().splitlines()) for path in (assets.gates() / "rules" / "sast").rglob("*.*"))
    print(f"{len(before)} rules at {revision}, {len(now)} now in {lines:,} lines; {len(set(before) ^ set(now))} differ")
    sys.exit(before != now)


if __name__ == "__main__":
    main()
