"""A group of verbs, whose help says of each what it does in a whole sentence."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup

_WHOLE = 1000
"""Characters of a sentence in a list of verbs: as many as it has. Longer than the line, it goes on in the next one."""


class VerbGroup(TyperGroup):
    """The verbs below a verb."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Writes each verb with the first sentence of its help, which typer would cut at the end of the line."""
        with formatter.section("Commands"):
            verbs = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
            formatter.write_dl([(name, verb.get_short_help_str(_WHOLE)) for name, verb in verbs if verb])
