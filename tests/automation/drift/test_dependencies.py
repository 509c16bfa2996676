"""Tests the names of dependencies that are read from manifests."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from swarmgate.automation.drift.dependencies import MOST_BYTES, listed, read

if TYPE_CHECKING:
    from pathlib import Path

MANIFESTS = {
    "requirements.txt": "httpx>=0.27  # client\nflask\n",
    "requirements-dev.txt": "pytest\n",
    "pyproject.toml": '[project]\nname = "x"\ndependencies = ["rich"]\n'
    '[project.optional-dependencies]\nall = ["loguru"]\n',
    "web/package.json": json.dumps({"dependencies": {"axios": "1"}, "devDependencies": {"vite": "5", "axios": "1"}}),
    "go.mod": "module x\n\ngo 1.22\n\nrequire github.com/gin-gonic/gin v1.9.1\n",
    "Cargo.toml": '[package]\nname = "x"\nversion = "1.0.0"\n[dependencies]\naxum = "0.7"\n',
    "Gemfile": "gem 'sinatra'\n",
}


def test_the_names_in_every_kind_of_manifest_with_their_lines(tmp_path: Path) -> None:
    for path, text in MANIFESTS.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    found, notes = read(tmp_path, listed(tmp_path, ["web/package.json", "gone/requirements.txt"]))
    assert not notes
    names = {each.text: each for each in found}
    assert names.keys() >= {"httpx", "flask", "pytest", "rich", "loguru", "axios", "vite", "axum", "sinatra"}
    assert {name for name, each in names.items() if each.development} == {"pytest", "loguru", "vite"}
    assert (names["flask"].place.file, names["flask"].place.line) == ("requirements.txt", 2)
    assert any("gin" in name for name in names)


def test_what_cannot_be_read_is_passed_over_with_a_note(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project\n")
    (tmp_path / "package.json").write_text("[1]")
    (tmp_path / "go.mod").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "requirements.txt").write_text("x\n" * MOST_BYTES)
    (tmp_path / "Gemfile").symlink_to("/etc/hostname")
    (tmp_path / "constraints.txt").write_text("flask\n")
    found, notes = read(tmp_path, listed(tmp_path, []))
    assert [each.text for each in found] == ["flask"]
    assert {name for name in ("pyproject.toml", "package.json", "requirements.txt") if name in " ".join(notes)} == {
        "pyproject.toml",
        "package.json",
        "requirements.txt",
    }
