"""Output formats of a gate report (text, JSON, SARIF, JUnit, GitHub), one module each."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from swarmgate.domain.text.screen import PIPE
from swarmgate.gates.formats.text import lines

if TYPE_CHECKING:
    from swarmgate.domain.review.finding import GateReport
    from swarmgate.domain.text.screen import Screen

FORMATS = ("text", "json", "sarif", "junit", "github")
"""The names of the forms: text for people, which `gates.formats.text` makes, and those of the modules here."""


def render(name: str, report: GateReport, about: str, screen: Screen = PIPE) -> str:
    """The report in the form of that name, with a line end.

    Args:
        name: one of `FORMATS`.
        report: what the gates said.
        about: what was judged, for people.
        screen: where text for people is shown.
    """
    if name == "text":
        text = "\n".join(lines(report, about, screen))
    else:
        text = import_module(f"{__name__}.{name}").render(report, about)
    return text if text.endswith("\n") or not text else f"{text}\n"
