"""A group of verbs with a default: `swarm debate "QUESTION"` means `swarm debate hold "QUESTION"`."""

from __future__ import annotations

from typing import Any

from swarmgate.terminal.verb_group import VerbGroup


class DefaultVerb(VerbGroup):
    """The verbs below a verb; where the first word is none of them, it is an argument of `default`.

    One word that is nearly a verb is refused: what it would begin costs money. `otherwise` says when it is meant.
    """

    default = "hold"
    otherwise = "if it is meant as it stands"

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Puts the verb first: the one that is named, also after options, or `hold`."""
        if args and not {"--help", "-h"}.intersection(args[:1]):
            word = self._first_word(args)
            if word in self.commands:
                args.remove(word)
                args = [word, *args]
            else:
                self._check(ctx, word)
                args = [self.default, *args]
        return super().parse_args(ctx, args)

    def _first_word(self, args: list[str]) -> str:
        """The first word that is no option, and no value of one; empty: there is none."""
        options = (each for command in self.commands.values() for each in command.params if each.opts[0][:1] == "-")
        valued = {name for each in options if not getattr(each, "is_flag", False) for name in each.opts}
        pairs = zip(["", *args], args, strict=False)
        return next((word for before, word in pairs if not word.startswith("-") and before not in valued), "")

    def _check(self, ctx: Any, word: str) -> None:
        from swarmgate.config import nearest  # late, for start-up time: only a word that is no verb needs it

        close = nearest(word, self.commands) if word.isalpha() else None
        if close and not ctx.resilient_parsing:  # a shell that asks for completions has no use for a refusal
            way = f"{self.otherwise}: {ctx.command_path} {self.default} {word}"
            ctx.fail(f"there is no verb `{word}` here; did you mean `{close}`? {way}")
