"""Software bill of materials: the CycloneDX document of a tree, and the difference that a change makes to it.

One module a lock format; each reads the text of one file and starts nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from swarmgate.workspace.git.repository import Repository


def document(
    repository: Repository,
    tree: str,
    *,
    spec: str = "1.6",
    timestamp: str = "",
    serial: str = "",
    everything: bool = False,
) -> bytes:
    """The SBOM of a tree as CycloneDX JSON: the evidence file `sbom.cdx.json`.

    The same tree gives the same bytes. Files that cannot be read make it say that it is incomplete, and which they are.

    Args:
        repository: the user's repository.
        tree: a tree id.
        spec: the version of CycloneDX, 1.6 or 1.7.
        timestamp: RFC 3339; empty leaves it out.
        serial: `urn:uuid:...`; empty derives it from the content.
        everything: also what is locked and not brought by a plain install (Poetry's optional groups, Pipenv's develop).

    Raises:
        ValueError: an unknown `spec`.
    """
    from swarmgate.gates.sbom import cyclonedx, inventory  # noqa: PLC0415 - late: the readers are many

    found = inventory.collect(repository, tree)
    name, version = found.root
    return cyclonedx.render(
        found.listed(everything=everything),
        root=(name or repository.root.name, version),
        declared=found.declared,
        spec=spec,
        timestamp=timestamp,
        serial=serial,
        unreadable=[str(each) for each in found.unreadable],
    )
