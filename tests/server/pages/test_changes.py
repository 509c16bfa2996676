"""A patch is shown file by file, whatever is in it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from swarmgate.engine.reports.goal_page.page import ShownChange
from swarmgate.server.pages.changes import change_in, change_of

PATCH = """diff --git a/src/a.py b/src/a.py
index 1..2 100644
--- a/src/a.py
+++ b/src/a.py
@@ -1,2 +1,2 @@ def a():
 same
-old
+new
+more
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
diff --git a/old name.txt b/new name.txt
similarity index 100%
rename from old name.txt
rename to new name.txt
diff --git a/pic.png b/pic.png
Binary files a/pic.png and b/pic.png differ
"""


def test_each_file_has_its_name_its_counts_and_its_lines_by_kind() -> None:
    files = change_in(PATCH).files
    assert [(each.path, each.added, each.removed) for each in files] == [
        ("src/a.py", 2, 1),
        ("gone.txt", 0, 1),
        ("new name.txt", 0, 0),
        ("pic.png", 0, 0),
    ]
    assert files[0].pieces == [
        ("place", "@@ -1,2 +1,2 @@ def a():\n"),
        ("", " same\n"),
        ("removed", "-old\n"),
        ("added", "+new\n+more\n"),
    ]
    assert "rename to" in files[2].pieces[0][1]


def test_what_is_left_out_is_counted_and_a_problem_is_told() -> None:
    assert change_in(PATCH, lines=8).left == len(PATCH.splitlines()) - 8
    told = change_of(ShownChange(task="1.1", attempt=1, problem="its evidence is missing"))
    assert (told.files, told.problem) == ((), "its evidence is missing")


@given(st.text(alphabet=st.sampled_from("+-@ \nadifg/b\x1b\u202e\ud800"), max_size=200))
def test_no_patch_is_lost_or_breaks_anything(patch: str) -> None:
    found = change_in(patch)
    lines = [line for each in found.files for _, text in each.pieces for line in text.splitlines()]
    assert len(lines) <= len(patch.splitlines())
    assert all(each.pieces for each in found.files)
