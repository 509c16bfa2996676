"""Names the folder below the user's data folder where swarmgate keeps the tools of its gates."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def folder() -> Path:
    """The folder, in the user's data folder; it may not exist."""
    from platformdirs import user_data_path  # noqa: PLC0415 - late: only the edge needs it

    return user_data_path("swarmgate") / "tools"
