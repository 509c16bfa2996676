"""Checks imports in Python, JavaScript, TypeScript, Go and Rust: whether they resolve, and who imports a file.

`consumers` is the importer graph for other gates. Nothing here imports or runs the project's code.
"""

from __future__ import annotations

from swarmgate.gates.imports.importers import Consumer, consumers

__all__ = ["Consumer", "consumers"]
