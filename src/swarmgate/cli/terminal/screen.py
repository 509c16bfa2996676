"""Lays out reports for the width and the colours of stdout."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from swarmgate.domain.text.screen import PIPE, Screen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swarmgate.domain.text.screen import Piece


def screen() -> Screen:
    """As wide as the terminal, and coloured unless NO_COLOR is set; a pipe is neither, but where FORCE_COLOR is set."""
    terminal = sys.stdout.isatty()
    if not (terminal or os.environ.get("FORCE_COLOR")):
        return PIPE
    from rich.console import Console
    from rich.text import Text

    console = Console(file=sys.stdout, highlight=False)
    width = console.width if terminal else 0
    if os.environ.get("NO_COLOR"):  # rich would keep weights, which are escapes all the same
        return Screen(width)

    def painted(pieces: Sequence[Piece]) -> str:
        with console.capture() as captured:
            console.print(Text.assemble(*pieces), soft_wrap=True, end="")
        return captured.get().rstrip()

    return Screen(width, painted)
