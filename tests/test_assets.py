"""The data folders are found in the checkout, hold what is expected, and their absence is told."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from swarmgate import assets
from swarmgate.errors import MissingRequirement

if TYPE_CHECKING:
    from pathlib import Path


def test_folders_of_the_checkout() -> None:
    assert (assets.gates() / "secret_scan.toml").is_file()
    assert (assets.gates() / "rules" / "secrets.toml").is_file()
    assert assets.prompts().is_dir()
    assert assets.template().name == ".swarm-template"


def test_a_wheel_layout_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "_data" / "prompts").mkdir(parents=True)
    monkeypatch.setattr(assets, "_WHEEL", tmp_path / "_data")
    monkeypatch.setattr(assets, "_CHECKOUT", tmp_path)
    assert assets.prompts() == tmp_path / "_data" / "prompts"


def test_a_neighbour_in_site_packages_is_not_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "gates").mkdir()
    monkeypatch.setattr(assets, "_WHEEL", tmp_path / "_data")
    monkeypatch.setattr(assets, "_CHECKOUT", tmp_path)
    with pytest.raises(MissingRequirement, match="'gates' is missing") as caught:
        assets.gates()
    assert "pip install" in caught.value.hint


def test_import_is_cheap() -> None:
    script = "import sys, swarmgate.assets; print(sorted({'pydantic', 'yaml', 're2'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
