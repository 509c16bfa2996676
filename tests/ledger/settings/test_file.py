"""Settings are changed without touching what stands beside them, and nothing that a user wrote is lost."""

from __future__ import annotations

import fcntl
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swarmgate import assets
from swarmgate.errors import ConfigError, LedgerWriteFailed, UsageError
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.settings import file
from swarmgate.ledger.settings.file import Draft, Edit, Put, Remove, Rename, changed, edited, read, save
from swarmgate.ledger.settings.text import applied, same

HYBRID = Put(("automation", "mode"), "hybrid")
DOCTOR = Put(("automation", "capabilities", "plan_sync"), value=False)


@pytest.fixture
def folder(repo: Path) -> SwarmFolder:
    folder = SwarmFolder(repo)
    folder.create()
    return folder


# --- texts ---


def test_a_new_key_stands_with_its_table_and_not_behind_the_comment_of_the_next() -> None:
    text = '[automation]\nmode = "manual"   # for now\n\n# Your own commands.\n[hooks]\na = "b"\n'
    assert changed(text, [Put(("automation", "poll_s"), 3.0)]) == text.replace("now\n", "now\npoll_s = 3.0\n")
    assert changed(text, [DOCTOR]) == text.replace("now\n", "now\n\n[automation.capabilities]\nplan_sync = false\n")
    assert changed(text, [HYBRID]) == text.replace('"manual"', '"hybrid"')


def test_the_template_takes_every_switch_and_gets_each_table_once() -> None:
    text = (assets.template() / "config.toml").read_text()
    new = changed(text, [DOCTOR, HYBRID, DOCTOR])
    assert tomllib.loads(new) == {
        **tomllib.loads(text),
        "automation": {"mode": "hybrid", "capabilities": {"plan_sync": False}},
    }
    assert '\n[automation]\nmode = "hybrid"       # ' in new
    assert "\n[automation.capabilities]\nplan_sync = false\n# phase_preflight = true\n" in new
    later = re.sub(r"^# (?=\[|phase_preflight)", "", new, flags=re.MULTILINE)  # the comments are made settings
    assert tomllib.loads(later)["automation"]["capabilities"] == {"plan_sync": False, "phase_preflight": True}
    assert changed(new, [DOCTOR, HYBRID]) == new


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# only a comment",
        "automation = { mode = 'auto' } # inline\n",
        "automation.mode = 'auto'\n[gates]\nskip = []\n",
        "[automation.capabilities]\nphase_preflight = true\n\n[gates]\n[automation]\npoll_s = 1\n",
        "[ automation . 'capabilities' ] # odd\n'plan_sync' = true\n",
        "[tests]\ncommand = '''\n[automation]\nmode = 1\n'''\n",
        "[automation]\r\nmode = 'auto' # kept\r\n\r\n[gates]\r\n",
    ],
)
def test_odd_ways_to_write_it(text: str) -> None:
    new = changed(text, [DOCTOR, HYBRID])
    wanted = applied(applied(tomllib.loads(text), DOCTOR), HYBRID)
    assert same(tomllib.loads(new), wanted)
    assert [each for each in re.findall(r"#[^\r\n]*", text) if each not in new] == []
    assert ("\r\n" in text) == ("\r\n" in new)
    assert "\r\n" not in text or "\n" not in new.replace("\r\n", "")


def test_renaming_keeps_the_place() -> None:
    text = "[test] # one\ncommand = 'x' # two\n[test.more]\na = 1\n[gates]\ntest = 1\n"
    assert changed(text, [Rename(("test",), "tests")]) == text.replace("[test", "[tests")
    assert changed("a.b = 1 # c\n", [Rename(("a", "b"), "d")]) == "a.d = 1 # c\n"
    with pytest.raises(ConfigError, match="that is set too"):
        changed("a = 1\nb = 2\n", [Rename(("a",), "b")])
    with pytest.raises(ConfigError, match="without touching"):
        changed("t = { a = 1 }\n", [Rename(("t", "a"), "b")])


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("[a]\nx = '#' # kept\ny = 1\n", "[a]\n# kept\ny = 1\n"),
        ('[a]\nx = """\n# text\n""" # kept\n', "[a]\n# kept\n"),
        ("a.x = 1\n", ""),
        ("a = { x = 1, y = 2 } # both\n", "a = {  y = 2 } # both\n"),
        ("[a]\nx = [ # inside\n  1,\n]\n# next\n", "[a]\n# next\n"),
    ],
)
def test_what_is_taken_out_leaves_its_comment(text: str, new: str) -> None:
    assert changed(text, [Remove(("a", "x"))]) == new


def test_a_table_stands_before_those_below_it() -> None:
    text = "# one\n[automation.capabilities]\nplan_sync = true\n"
    assert changed(text, [HYBRID]) == text.replace("[auto", '[automation]\nmode = "hybrid"\n\n[auto')


def test_a_commented_table_is_used_only_where_that_says_what_was_meant() -> None:
    text = "[gates]\n# [automation]\nskip = []\n"  # `skip` would change its table
    assert tomllib.loads(changed(text, [HYBRID])) == {"gates": {"skip": []}, "automation": {"mode": "hybrid"}}
    text = "# [automation]\r\n#mode = 'auto' # why\r\n"
    assert changed(text, [HYBRID]) == '[automation]\r\nmode = "hybrid" # why\r\n'


def test_true_is_not_one() -> None:
    assert changed("a = 1 # one\n", [Put(("a",), value=True)]) == "a = true # one\n"
    assert changed("a = 5.0\n", [Put(("a",), 5)]) == "a = 5\n"


def test_no_toml_and_no_table() -> None:
    with pytest.raises(ConfigError, match="not valid TOML"):
        changed("[automation\n", [HYBRID])
    with pytest.raises(ConfigError, match="`automation` is a value"):
        changed("automation = 1\n", [HYBRID])


_NAMES = st.sampled_from(["alpha", "beta", "gamma_s", "delta-x"])
_VALUES = st.one_of(
    st.booleans(), st.integers(-9, 10**6), st.text(max_size=8), st.lists(st.integers(0, 9), max_size=3),
    st.floats(allow_nan=False, allow_infinity=False),
)  # fmt: skip


@st.composite
def _documents(draw: st.DrawFn) -> str:
    """TOML as people write it: tables, comments everywhere, blank lines, long texts."""
    lines, seen, number = [], set[str](), 0

    def comment() -> str:
        nonlocal number
        number += 1
        return f"# comment {number} [x] = 'y'"

    def keys() -> None:
        for name in draw(st.lists(_NAMES, unique=True, max_size=3)):
            value = draw(
                st.sampled_from(["1", "true", "'a # b'", "[\n  1, # inside\n  2,\n]", '"""\n[beta]\nq = 1\n"""'])
            )
            tail = f"  {comment()}" if draw(st.booleans()) else ""
            lines.append(f"{name} = {value}{tail}")
            if draw(st.booleans()):
                lines.append(comment())

    for table in draw(st.lists(st.tuples(_NAMES, _NAMES), max_size=3)):
        name = f"{table[0]}_t.{table[1]}_u"
        if name in seen:
            continue
        seen.add(name)
        lines.extend(["", comment()] if draw(st.booleans()) else [])
        lines.append(f"[{name}] {comment()}")
        keys()
    return "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n# the end\n"]))


@settings(max_examples=60)
@given(_documents(), _NAMES, _NAMES, _NAMES, _VALUES)
def test_comments_survive_and_the_values_are_those_that_were_meant(
    text: str, one: str, two: str, key: str, value: Any
) -> None:
    edit = Put((f"{one}_t", f"{two}_u", key), value)
    before = tomllib.loads(text)
    new = changed(text, [edit])
    assert same(tomllib.loads(new), applied(before, edit))
    held = before.get(f"{one}_t", {}).get(f"{two}_u", {}).get(key)
    for comment in re.findall(r"# comment \d+", text):
        assert comment in new
    if not isinstance(held, list):  # a list that is replaced takes the comments inside of it along
        assert text.count("# inside") == new.count("# inside")
    assert changed(new, [edit]) == new


@settings(max_examples=60)
@given(_documents(), st.data())
def test_renaming_and_removing_touch_one_key(text: str, data: st.DataObject) -> None:
    before = tomllib.loads(text)
    paths = [(a, b, c) for a, inner in before.items() for b, table in inner.items() for c in table]
    if not paths:
        return
    path = data.draw(st.sampled_from(paths))
    for edit in (Rename(path, "new_name"), Remove(path)):
        each: Edit = edit
        assert same(tomllib.loads(changed(text, [each])), applied(before, each))


# --- files ---


def test_saving_keeps_the_old_file_and_its_permissions(folder: SwarmFolder) -> None:
    folder.config.write_bytes("\ufeff[gates]\r\nskip = [] # none\r\n".encode())
    folder.config.chmod(0o600)
    before = folder.config.read_bytes()
    draft = edited(folder.config, [HYBRID])
    assert folder.config.read_bytes() == before
    (kept,) = save(folder, [draft])
    assert kept.parent == folder.quarantine
    assert kept.read_bytes() == before
    assert [each.stat().st_mode & 0o777 for each in (kept, folder.config)] == [0o600, 0o600]
    assert folder.config.read_bytes() == before + b'\r\n[automation]\r\nmode = "hybrid"\r\n'
    assert save(folder, [edited(folder.config, [HYBRID])]) == ()


def test_a_change_meanwhile_is_not_overwritten(folder: SwarmFolder) -> None:
    draft = edited(folder.config, [HYBRID])
    folder.config.write_text("# mine\n")
    with pytest.raises(UsageError, match="changed by somebody else"):
        save(folder, [draft])
    assert folder.config.read_text() == "# mine\n"
    folder.config.unlink()
    with pytest.raises(UsageError, match="changed by somebody else"):
        save(folder, [draft])
    assert not folder.quarantine.exists()


def test_a_change_between_the_copy_and_the_replacement_is_noticed(folder: SwarmFolder) -> None:
    drafts = [edited(folder.config, [each]) for each in (HYBRID, DOCTOR)]  # the first changes the file of the second
    with pytest.raises(UsageError, match="changed by somebody else"):
        save(folder, drafts)
    assert folder.config.read_text() == drafts[0].after


def test_a_link_to_nothing_is_no_empty_file(folder: SwarmFolder) -> None:
    folder.config.unlink()
    folder.config.symlink_to(folder.root / "gone.toml")
    with pytest.raises(ConfigError, match=r"symbolic link to .*gone\.toml, and no file is there"):
        edited(folder.config, [HYBRID])


def test_what_is_no_toml_is_never_touched(folder: SwarmFolder) -> None:
    for data in (b"[gates\n", b"\xff\xfe", b'a = """'):
        folder.config.write_bytes(data)
        with pytest.raises(ConfigError, match=r"config\.toml"):
            edited(folder.config, [HYBRID])
        assert folder.config.read_bytes() == data


def test_links(folder: SwarmFolder, tmp_path: Path) -> None:
    inside, outside = folder.root / "shared.toml", tmp_path / "outside.toml"
    for place in (inside, outside):
        place.write_text("# here\n")
    folder.config.unlink()
    folder.config.symlink_to(inside)
    save(folder, [edited(folder.config, [HYBRID])])
    assert folder.config.is_symlink()
    assert inside.read_text() == '# here\n\n[automation]\nmode = "hybrid"\n'
    folder.config.unlink()
    folder.config.symlink_to(outside)
    with pytest.raises(UsageError, match="symbolic link"):
        save(folder, [edited(folder.config, [HYBRID])])
    assert outside.read_text() == "# here\n"


def test_a_file_that_is_not_there_is_made(folder: SwarmFolder) -> None:
    folder.config.unlink()
    assert save(folder, [edited(folder.config, [DOCTOR])]) == ()
    assert folder.config.read_text() == "[automation.capabilities]\nplan_sync = false\n"


def test_a_disk_that_refuses(folder: SwarmFolder) -> None:
    draft = edited(folder.config, [HYBRID])
    folder.quarantine.write_text("in the way")
    with pytest.raises(LedgerWriteFailed, match="quarantine"):
        save(folder, [draft])
    assert read(folder.config)[0] == draft.before
    assert save(folder, [Draft(folder.config, draft.before, (draft.before or b"").decode())]) == ()


def test_another_writer_is_waited_for_and_not_for_ever(folder: SwarmFolder, monkeypatch: pytest.MonkeyPatch) -> None:
    draft = edited(folder.config, [HYBRID])
    with (folder.runtime / "settings.lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        monkeypatch.setattr(file, "_WAIT_S", 0.05)
        with pytest.raises(UsageError, match="changing the settings"):
            save(folder, [draft])
    assert len(save(folder, [draft])) == 1


def test_what_is_no_file_is_not_waited_for(folder: SwarmFolder) -> None:
    folder.config.unlink()
    os.mkfifo(folder.config)
    with pytest.raises(ConfigError, match="not a regular file"):
        edited(folder.config, [HYBRID])
