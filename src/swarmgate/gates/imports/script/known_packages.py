"""Loads the table of well-known npm packages and of Node's built-ins, `gates/names/npm_packages.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

from swarmgate import assets


@cache
def known(name: str) -> frozenset[str]:
    """A list of the file: `builtin`, `hosts`, `virtual`, `packages`, `twins` or `scopes`."""
    return frozenset(_table()[name].split())


def brought_by(package: str) -> frozenset[str]:
    """The names that the dependencies of a package provide."""
    return frozenset(_table()["brings"].get(package, "").split())


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads((assets.gates() / "names" / "npm_packages.toml").read_text("utf-8"))
