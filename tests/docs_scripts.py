"""The scripts beside the pages that they write, as modules."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from types import ModuleType

DOCS = Path(__file__).parent.parent / "docs"


def script(name: str) -> ModuleType:
    """A script of `docs/`, which imports what lies beside it, as it does when it is run."""
    sys.path.insert(0, str(DOCS))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(DOCS))


def up_to_date(name: str) -> bool:
    """Whether the page of a script is what the script would write."""
    derived = script(name).DERIVED
    return bool(derived.page.read_text("utf-8") == derived.rendered())
