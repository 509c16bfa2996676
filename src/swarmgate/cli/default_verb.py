"""Verbs below a verb, of which one may be left out: `swarm debate "QUESTION"` is `swarm debate hold "QUESTION"`."""

from __future__ import annotations

from typing import Any

from typer.core import TyperGroup


class DefaultVerb(TyperGroup):
    """The verbs below a verb; where the first word is none of them, it is an argument of `default`."""

    default = "hold"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Puts the verb first: the one that is named after options, or `hold`."""
        first = args[0] if args else "--help"
        if first not in (*self.commands, "--help", "-h"):
            named = next((word for word in args if word in self.commands), "") if first.startswith("-") else ""
            if named:
                args.remove(named)
            args = [named or self.default, *args]
        return super().parse_args(ctx, args)
