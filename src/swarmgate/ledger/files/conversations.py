"""Stores conversations that wait for the user's answer under `.swarm/runtime/conversations/`, by their SHA-256.

They are no part of the ledger: on another machine the turn begins again, and is told the answer in its brief.
"""

from __future__ import annotations

import hashlib

from swarmgate.journal.disk_errors import writing
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.workspace.files import regular
from swarmgate.workspace.files.atomic import replace
from swarmgate.workspace.files.folders import make


def keep(folder: SwarmFolder, text: str) -> str:
    """Writes a conversation; returns its SHA-256 in hex.

    Raises:
        LedgerWriteFailed: the disk refused.
    """
    data = text.encode("utf-8", "replace")
    digest = hashlib.sha256(data).hexdigest()
    target = folder.conversations / f"{digest}.json"
    with writing(target):
        make(target.parent)
        replace(target, data)
    return digest


def read(folder: SwarmFolder, digest: str) -> str:
    """The conversation of that SHA-256; empty where it is not there, or is another one by now."""
    try:
        data = regular.read(folder.conversations / f"{digest}.json")
    except OSError:
        return ""
    return data.decode("utf-8", "replace") if hashlib.sha256(data).hexdigest() == digest else ""
