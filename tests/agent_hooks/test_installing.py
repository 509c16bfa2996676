"""What is written into settings, what stays as it is, and that it comes out again."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from swarmgate.agent_hooks.programs import installing, json_text
from swarmgate.agent_hooks.programs.listing import PROGRAMS
from swarmgate.cli.app import app
from swarmgate.errors import UsageError

ROOT = Path(__file__).parents[2]
MINE = b"""// mine
{
    "model": "opus", /* the big one */
    "hooks": {
        "Stop": [
            {"hooks": [{"type": "command", "command": "notify-send done"}]} // tells me
        ]
    },
    "permissions": {"allow": ["Bash(ls:*)"]}
}
"""
ENTRY = {"hooks": [{"type": "command", "command": "swarm hook stop", "timeout": 300}]}

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda each: st.lists(each) | st.dictionaries(st.text(), each),
)
HOOKS = st.dictionaries(st.sampled_from(["Stop", "PreToolUse", "Other"]), st.lists(JSON, max_size=2), max_size=3)


def install(name: str, root: Path | None, swarm: str = "swarm") -> installing.Change:
    change = installing.installing(name, root, swarm)
    installing.apply(change, keep=True)
    return change


def uninstall(name: str, root: Path | None) -> installing.Change:
    change = installing.uninstalling(name, root)
    installing.apply(change, keep=False)
    return change


@pytest.mark.slow
@given(st.dictionaries(st.text(), JSON), HOOKS, st.sampled_from([None, 0, 1, 4, "\t"]))
def test_what_is_added_to_any_settings_comes_out_again(
    others: dict[str, Any], hooks: dict[str, Any], indent: int | str | None
) -> None:
    value = {**others, "hooks": hooks}
    text = json.dumps(value, indent=indent).encode()
    with_it = json_text.with_entry(text, "Stop", ENTRY)
    assert json.loads(with_it) == {**value, "hooks": {**hooks, "Stop": [*hooks.get("Stop", []), ENTRY]}}
    left = json_text.without_entries(with_it)
    assert {key: each for key, each in json.loads(left or b"{}").items() if key != "hooks"} == {
        key: each for key, each in others.items() if key != "hooks"
    }
    if hooks.get("Stop") or (hooks and "Stop" not in hooks):  # what held nothing else goes along
        assert left == text


@pytest.mark.parametrize("name", ["claude", "codex", "gemini"])
def test_comments_and_other_settings_stay_and_it_comes_out_byte_for_byte(repo: Path, name: str) -> None:
    place = PROGRAMS[name].place(repo)
    place.parent.mkdir()
    place.write_bytes(MINE)
    install(name, repo)
    text = place.read_bytes()
    for part in (b"// mine", b"/* the big one */", b"// tells me", b"notify-send done", b'"Bash(ls:*)"'):
        assert part in text
    assert len([each for each in json_text.entries(text) if "swarm hook" in str(each)]) == 4
    assert not installing.installing(name, repo, "swarm").changes, "twice is once"
    place.write_bytes(text.replace(b'"opus"', b'"sonnet"'))  # edited since: the copy of before would take that back
    uninstall(name, repo)
    assert place.read_bytes() == MINE.replace(b'"opus"', b'"sonnet"')


@pytest.mark.parametrize("before", [None, b"", b"{}", b"{ }\n", b'{"hooks": {}}\n', b'{"hooks":{"Stop":[ ]}}', MINE])
def test_a_file_that_nobody_edited_is_as_before(repo: Path, before: bytes | None) -> None:
    place = PROGRAMS["claude"].place(repo)
    if before is not None:
        place.parent.mkdir()
        place.write_bytes(before)
    install("claude", repo)
    install("claude", repo, "/opt/swarm")  # an update
    uninstall("claude", repo)
    assert (place.read_bytes() if place.exists() else None) == before
    assert place.parent.exists() == (before is not None)


def test_another_command_takes_the_place_of_the_one_before(repo: Path) -> None:
    install("claude", repo)
    install("claude", repo, "/opt/swarm")
    text = PROGRAMS["claude"].place(repo).read_text()
    assert text.count("hook stop") == 1
    assert "/opt/swarm hook stop" in text


@pytest.mark.parametrize("text", [b"[]", b"{", b'{"a": 1,}', b'{"hooks": []}', b'{"hooks": {"Stop": {}}}', b"\xff"])
def test_settings_of_another_form_are_left_alone(repo: Path, text: bytes) -> None:
    place = PROGRAMS["claude"].place(repo)
    place.parent.mkdir()
    place.write_bytes(text)
    with pytest.raises(UsageError, match=r"settings\.json"):
        installing.installing("claude", repo, "swarm")
    assert place.read_bytes() == text


def test_settings_behind_a_link_stay_behind_it(repo: Path, tmp_path: Path) -> None:
    real = tmp_path / "dotfiles.json"
    real.write_bytes(MINE)
    place = PROGRAMS["claude"].place(repo)
    place.parent.mkdir()
    place.symlink_to(real)
    install("claude", repo)
    assert place.is_symlink()
    assert b"swarm hook stop" in real.read_bytes()
    uninstall("claude", repo)
    assert real.read_bytes() == MINE


def test_the_plugin_of_opencode_comes_and_goes_and_takes_nobody_elses_place(repo: Path) -> None:
    place = PROGRAMS["opencode"].place(repo)
    install("opencode", repo, "/opt/my\\ swarm/bin/swarm")
    assert '"/opt/my swarm/bin/swarm"' in place.read_text()
    assert installing.installed("opencode", repo)
    install("opencode", repo, "swarm")
    assert 'const SWARM = ["swarm"]' in place.read_text()
    place.write_text(place.read_text() + "// and mine")
    uninstall("opencode", repo)
    assert not place.exists()
    place.parent.mkdir(parents=True)
    place.write_text("// mine")
    with pytest.raises(UsageError, match="not swarmgate's"):
        installing.installing("opencode", repo, "swarm")


def test_the_verb_shows_the_difference_and_writes_nothing_unasked(repo: Path) -> None:
    place = PROGRAMS["claude"].place(repo)
    done = CliRunner().invoke(app, ["hook", "install", "claude", "--repo", str(repo)])
    assert done.exit_code == 3
    assert "+++ " in done.stdout
    assert "Nothing was written." in done.stdout
    assert not place.exists()
    done = CliRunner().invoke(app, ["hook", "install", "claude", "--yes", "--json", "--repo", str(repo)])
    assert json.loads(done.stdout)["written"] is True
    status = json.loads(CliRunner().invoke(app, ["hook", "status", "--json", "--repo", str(repo)]).stdout)
    assert [each["path"] for each in status["places"] if each["installed"]] == [str(place)]


def test_your_own_settings_are_where_the_program_looks(isolated: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert PROGRAMS["claude"].place(None) == isolated / ".claude/settings.json"
    monkeypatch.setenv("XDG_CONFIG_HOME", "/elsewhere")
    assert PROGRAMS["opencode"].place(None) == Path("/elsewhere/opencode/plugins/swarmgate.js")
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", "/elsewhere")
    assert PROGRAMS["claude"].place(None) == Path("/elsewhere/settings.json")
    assert PROGRAMS["gemini"].place(None) == isolated / ".gemini/settings.json"


def test_the_plugin_of_claude_has_the_hooks_that_are_installed() -> None:
    plugin = ROOT / "integrations/claude"
    hooks = json.loads((plugin / "hooks/hooks.json").read_text())["hooks"]
    assert hooks == {event: [entry] for event, entry in PROGRAMS["claude"].entries("swarm")}
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert json.loads((plugin / ".claude-plugin/plugin.json").read_text())["version"] == version
