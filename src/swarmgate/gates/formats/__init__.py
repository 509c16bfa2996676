"""A gate report in the forms that other programs read: a module with a pure function each, imported when asked for."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swarmgate.domain.finding import GateReport

FORMATS = ("text", "json", "sarif", "junit", "github")
"""The names of the forms, which are those of the modules here."""


def render(name: str, report: GateReport, about: str) -> str:
    """The report in the form of that name, with a line end.

    Args:
        name: one of `FORMATS`.
        report: what the gates said.
        about: what was judged, for people.
    """
    text: str = import_module(f"{__name__}.{name}").render(report, about)
    return text if text.endswith("\n") or not text else f"{text}\n"
