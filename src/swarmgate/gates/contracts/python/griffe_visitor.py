"""Imports only the visitor of griffe, without its command line and loaders, in half the time.

With a griffe that is built in another way the whole package is imported.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import logging
import sys
from types import ModuleType
from typing import Any, NamedTuple

_PARSERS = "griffe._internal.docstrings.parsers"


class Griffe(NamedTuple):
    """The parts of griffe that are used."""

    Visitor: Any
    load_extensions: Any


@functools.cache
def load() -> Griffe:
    """Import griffe's visitor.

    Raises:
        ImportError: griffe is not installed.
    """
    logging.getLogger("griffe").setLevel(logging.CRITICAL + 1)  # what it cannot resolve is no user's business
    if "griffe" not in sys.modules:
        try:
            return _parts()
        except (ImportError, AttributeError):
            for name in [name for name in sys.modules if name.partition(".")[0] == "griffe"]:
                del sys.modules[name]
    griffe = importlib.import_module("griffe")
    return Griffe(griffe.Visitor, griffe.load_extensions)


def _parts() -> Griffe:
    """The modules themselves: an empty package stands for the one whose first lines import all of it."""
    spec = importlib.util.find_spec("griffe")
    if spec is None:
        raise ImportError("griffe is not installed")
    package, parsers = ModuleType("griffe"), ModuleType(_PARSERS)
    package.__path__ = list(spec.submodule_search_locations or ())
    parsers.__dict__.update(dict.fromkeys(("DocstringOptions", "DocstringStyle", "parse")))
    sys.modules.update({"griffe": package, _PARSERS: parsers})
    try:
        visitor = importlib.import_module("griffe._internal.agents.visitor")
        extensions = importlib.import_module("griffe._internal.extensions.base")
        return Griffe(visitor.Visitor, extensions.load_extensions)
    finally:
        # Who imports griffe itself later shall get all of it.
        del sys.modules["griffe"], sys.modules[_PARSERS]
