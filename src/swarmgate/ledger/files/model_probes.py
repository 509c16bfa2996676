"""Stores the probed capabilities of models in `.swarm/runtime/models.json`: local, not committed.

`swarm doctor --models` writes it, and so does each call that finds out something. Several processes may: each change is
made to what stands there then, under a lock.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping

from pydantic import TypeAdapter, ValidationError

from swarmgate.domain.capabilities import Capabilities
from swarmgate.errors import SwarmError
from swarmgate.journal.disk_errors import writing
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace import system
from swarmgate.workspace.files import exclusive
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.files.folders import make

_ALL = TypeAdapter(dict[str, Capabilities])
_WAIT_S, _PAUSE_S = 1.0, 0.01
"""How long the lock is waited for: who holds it writes a small file."""


def load(folder: SwarmFolder) -> dict[str, Capabilities]:
    """The newest findings by `provider/model`; none where nothing was probed, or the file is no longer readable."""
    try:
        return _ALL.validate_json(folder.models.read_bytes())
    except (OSError, ValidationError):
        return {}  # a cache: the next probe writes it again


def save(folder: SwarmFolder, found: Iterable[Capabilities]) -> None:
    """Keeps what a probe found beside what is known of other models; what calls found before is forgotten.

    A model that could not be asked keeps what was known of it.

    Raises:
        LedgerWriteFailed: the disk refused.
    """
    asked = {each.model: each for each in found if not each.error}
    with writing(folder.models):
        _rewrite(folder, lambda known: {**known, **asked})


def remember(folder: SwarmFolder, model: str, base_url: str, change: Callable[[Capabilities], Capabilities]) -> None:
    """Keeps what a call found out of a model. Where that cannot be written, the next run finds it out again."""

    def with_it(known: Mapping[str, Capabilities]) -> dict[str, Capabilities]:
        before = known.get(model)
        if before is None or before.base_url != base_url:
            before = Capabilities(model=model, base_url=base_url, asked="")
        return {**known, model: change(before)}

    with contextlib.suppress(OSError, SwarmError):
        _rewrite(folder, with_it)


def _rewrite(folder: SwarmFolder, change: Callable[[Mapping[str, Capabilities]], Mapping[str, Capabilities]]) -> None:
    make(folder.runtime)
    with _locked(folder):
        known = load(folder)
        new = change(known)
        if new != known:
            data = {name: new[name].model_dump(mode="json") for name in sorted(new)}
            replace(folder.models, json.dumps(data, indent=1) + "\n", durable=False)


@contextlib.contextmanager
def _locked(folder: SwarmFolder) -> Iterator[None]:
    """Holds the lock; goes on without it where somebody keeps it, or there is none: no finding is precious."""
    handle = os.open(folder.models.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | system.CLOEXEC, 0o644)
    until = time.monotonic() + _WAIT_S
    try:
        while time.monotonic() < until:
            try:
                exclusive.take(handle, wait=False)
            except BlockingIOError:
                time.sleep(_PAUSE_S)
            except OSError:
                break
            else:
                break
        yield
    finally:
        os.close(handle)  # which gives the lock back
