"""Loads the table of well-known Python packages and their import names, `gates/names/python_packages.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from typing import Any

from swarmgate import assets


@cache
def hosts() -> frozenset[str]:
    """The modules that a host program or the operating system provides."""
    return frozenset(_table()["hosts"].split())


@cache
def plugins() -> frozenset[str]:
    """The distributions that are used without being imported."""
    return frozenset(_table()["plugins"].split())


@cache
def removed() -> dict[str, tuple[int, int]]:
    """The modules that the standard library removed, with the version of the removal."""
    pairs = ((name, version.split(".")) for name, version in _table()["removed"].items())
    return {name: (int(major), int(minor)) for name, (major, minor) in pairs}


def python_2() -> dict[str, str]:
    """The modules of Python 2, and their replacements."""
    found: dict[str, str] = _table()["python_2"]
    return found


@cache
def providers() -> dict[str, frozenset[str]]:
    """By import name: the distributions (normalised) that provide it."""
    found: dict[str, frozenset[str]] = {}
    for row in _rows("providers"):
        found[row[0]] = found.get(row[0], frozenset()) | frozenset(row[1:])
    return found


@cache
def brings() -> dict[str, frozenset[str]]:
    """By distribution: the import names that its dependencies provide."""
    return {row[0]: frozenset(row[1:]) for row in _rows("brings")}


@cache
def distributions() -> frozenset[str]:
    """Every distribution of the tables."""
    return frozenset(name for names in providers().values() for name in names) | frozenset(brings())


def _rows(name: str) -> list[list[str]]:
    return [row.split() for row in _table()[name].replace("\n", " ").split("|") if row.split()]


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads((assets.gates() / "names" / "python_packages.toml").read_text("utf-8"))
