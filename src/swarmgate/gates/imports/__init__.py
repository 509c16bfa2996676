"""What a file imports, whether it is there, and who imports it: Python, JavaScript and TypeScript, Go, Rust.

`consumers` is the importer graph for other gates. Nothing here imports or runs the project's code.
"""

from __future__ import annotations

from swarmgate.gates.imports.importers import Consumer, consumers

__all__ = ["Consumer", "consumers"]
