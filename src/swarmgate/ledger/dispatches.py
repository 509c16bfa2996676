"""Dispatches under `.swarm/traces/dispatches/`, one JSON file each, named by its id."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache

from pydantic import ValidationError

from swarmgate.config import nearest
from swarmgate.domain.dispatch import DispatchResult
from swarmgate.errors import CouncilRefused, LedgerError
from swarmgate.journal.writing import writing
from swarmgate.ledger.debates import masked, unredacted
from swarmgate.ledger.folder import SwarmFolder
from swarmgate.workspace.atomic import replace

_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]|\.(?!\.)){0,79}")


class DispatchFiles:
    """The dispatches of one project; implements `council.dispatching.DispatchStore`.

    Args:
        folder: the project's folder.
        redact: masks the secrets in a text; every text goes through it before it is written.
    """

    def __init__(self, folder: SwarmFolder, *, redact: Callable[[str], str] = unredacted) -> None:
        self._folder = folder
        self._path = folder.traces / "dispatches"
        self._redact = cache(redact)  # a dispatch is kept again after each reply, with all that was said before

    def keep(self, result: DispatchResult) -> None:
        """Keeps a dispatch as it stands now, in the place of what was kept of it before.

        Raises:
            LedgerWriteFailed: the disk refused.
        """
        path = self._path / f"{result.id}.json"
        data = masked(result.model_dump(mode="json"), self._redact)
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps(data, ensure_ascii=False, indent=1) + "\n"
            replace(path, text.encode("utf-8", "replace"), durable=result.finished)

    def check_new(self, dispatch_id: str) -> None:
        """Insists that a new dispatch may have this id: none that came to its end with an output has it.

        Raises:
            CouncilRefused: it may not.
            LedgerError: the file of the one that has it is damaged.
        """
        if not _ID.fullmatch(dispatch_id):
            raise CouncilRefused(
                f"{dispatch_id[:100]!r} is no id of a dispatch: letters, digits, `.`, `_` and `-`, at most 80."
            )
        there = self.load(dispatch_id) if dispatch_id in self.ids() else None
        if there and there.finished and there.succeeded and not there.exhausted:
            raise CouncilRefused(
                f"There is a dispatch {dispatch_id} already.", hint=f"Look at it: swarm dispatch show {dispatch_id}"
            )

    def ids(self) -> tuple[str, ...]:
        """Every dispatch on record, the oldest first."""
        return tuple(sorted(path.stem for path in self._path.glob("*.json")))

    def load(self, dispatch_id: str) -> DispatchResult:
        """A dispatch that is on record.

        Raises:
            CouncilRefused: there is none of that id; the message names the nearest.
            LedgerError: its file is damaged.
        """
        path = self._path / f"{dispatch_id}.json"
        if not _ID.fullmatch(dispatch_id) or not path.is_file():
            known = self.ids()
            hint = f"Did you mean {nearest(dispatch_id, known) or known[-1]}?" if known else "None is on record yet."
            raise CouncilRefused(f"There is no dispatch {dispatch_id[:80]!r}.", hint=hint)
        try:
            return DispatchResult.model_validate_json(path.read_bytes())
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            why = f"`{'.'.join(map(str, first['loc']))}`: {first['msg']}"
        except OSError as error:
            why = error.strerror or str(error)
        raise LedgerError(
            f"{self._folder.relative(path)} is damaged, or was changed by hand: {why}",
            hint="Bring the file back from a backup.",
        )
