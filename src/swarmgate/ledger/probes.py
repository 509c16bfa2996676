"""What probes of models found, kept in `.swarm/runtime/models.json`: not committed, endpoints differ by machine."""

from __future__ import annotations

import json
from collections.abc import Iterable

from pydantic import TypeAdapter, ValidationError

from swarmgate.domain.capabilities import Capabilities
from swarmgate.ledger.folder import SwarmFolder, writing
from swarmgate.workspace.atomic import replace
from swarmgate.workspace.folders import make

_ALL = TypeAdapter(dict[str, Capabilities])


def load(folder: SwarmFolder) -> dict[str, Capabilities]:
    """The newest findings by `provider/model`; none where nothing was probed, or the file is no longer readable."""
    try:
        return _ALL.validate_json(folder.models.read_bytes())
    except (OSError, ValidationError):
        return {}  # a cache: the next probe writes it again


def save(folder: SwarmFolder, found: Iterable[Capabilities]) -> None:
    """Keeps findings beside those of other models. A model that could not be asked keeps what was known of it.

    Raises:
        LedgerWriteFailed: the disk refused.
    """
    known = load(folder) | {each.model: each for each in found if not each.error}
    data = {name: known[name].model_dump(mode="json") for name in sorted(known)}
    with writing(folder.models):
        make(folder.runtime)
        replace(folder.models, json.dumps(data, indent=1) + "\n", durable=False)
