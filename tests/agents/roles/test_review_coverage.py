"""What of a change a reviewer was shown, and that it approves nothing else."""

from __future__ import annotations

import re

import pytest

from swarmgate.agents.roles.review_coverage import ShownChange, ShownFile
from swarmgate.domain.review.change import ChangedFile, ChangeKind
from swarmgate.errors import FileProblem


def added(path: str, lines: list[str], *, must: bool = True) -> ShownFile:
    text = f"diff --git a/{path} b/{path}\n@@ -0,0 +1,{len(lines)} @@\n" + "".join(f"+{line}\n" for line in lines)
    return ShownFile(ChangedFile(path=path, kind=ChangeKind.ADDED, added=len(lines)), text, must)


CODE = [f"x{number} = {number}" for number in range(1, 301)]


def test_what_the_brief_holds_was_shown() -> None:
    change = ShownChange([added("src/a.py", CODE), added("pad.txt", ["pad"] * 6000, must=False)], part=2000)
    text = change.brief(10_000)
    assert len(text) < 10_300
    assert "+x300 = 300" in text
    assert "call read_change with this path and part=" in text
    assert change.objection() == ""


def test_what_was_cut_is_named_and_comes_with_the_objection_until_all_was_shown() -> None:
    change = ShownChange([added("src/a.py", CODE), added("src/b.py", ["evil()"])], part=2000)
    change.brief(1000)
    first = change.objection()
    assert "src/a.py (from part 1 of 2 on), src/b.py (from part 1 of 1 on)" in first
    assert "+x150 = 150" in first
    assert "evil()" not in first
    second = change.objection()
    assert "+evil()" in second
    assert change.objection() == ""


def test_parts_show_it_whatever_its_lines_are() -> None:
    change = ShownChange([added("src/a.min.js", ["f(1);" * 2000 + "evil()"])], part=3000)
    change.brief(500)
    told = [change.read("src/a.min.js", part) for part in range(1, 5)]
    assert "[part 1 of 4 of the change of src/a.min.js; call read_change with part=2]" in told[0]
    assert "evil()" in told[3]
    assert change.unseen == ()
    with pytest.raises(FileProblem, match="has 4 parts"):
        change.read("src/a.min.js", 5)
    with pytest.raises(FileProblem, match="no file of the change"):
        change.read("src/other.py", 1)


def test_lines_that_were_read_or_found_count_and_only_these_very_lines() -> None:
    file = added("src/a.py", CODE)
    change = ShownChange([file], part=2000)
    change.was_read("src/a.py", 1, "\n".join(CODE[:200]) + "\n[lines 1-300 of 300]\n")
    change.was_read("src/a.py", 201, "\n".join(f"y{number}" for number in range(201, 301)))
    change.was_found("src/a.py:201: x201 = 201\nsrc/a.py:202: something else\n[the first 200 matches]")
    start = file.first_unseen()
    assert start is not None
    assert file.text[start:].startswith("+x202 = 202")
    change.was_read("src/a.py", 202, "\n".join(CODE[201:]))
    assert change.unseen == ()


def test_a_line_that_is_gone_can_be_seen_in_the_change_only() -> None:
    text = "diff --git a/src/a.py b/src/a.py\n@@ -1,3 +1,2 @@\n keep\n-check(user)\n last\n"
    change = ShownChange([ShownFile(ChangedFile(path="src/a.py", kind=ChangeKind.MODIFIED, removed=1), text)], part=900)
    change.was_read("src/a.py", 1, "keep\nlast")
    assert "check(user)" in change.objection()
    assert change.objection() == ""


def test_a_file_without_changed_lines_needs_no_look() -> None:
    text = "diff --git a/src/a.py b/src/b.py\nsimilarity index 100%\nrename from src/a.py\nrename to src/b.py\n"
    renamed = ChangedFile(path="src/b.py", old_path="src/a.py", kind=ChangeKind.RENAMED)
    assert ShownChange([ShownFile(renamed, text)], part=900).objection() == ""


def test_thousands_of_names_leave_room_for_the_change() -> None:
    files = [added("src/a.py", CODE), *(added(f"data/{n}.csv", ["1"], must=False) for n in range(6000))]
    change = ShownChange(files, part=2000)
    text = change.brief(20_000)
    assert re.search(r"\nand 5,\d\d\d files more\n", text)
    assert "+x300 = 300" in text
    assert len(text) < 20_300
