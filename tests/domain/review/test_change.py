from __future__ import annotations

from swarmgate.domain.review.change import ChangedFile, ChangeKind, ChangeSet

MOVED = ChangedFile(path="b.py", old_path="a.py", kind=ChangeKind.RENAMED, old_mode="100644", new_mode="100755")
GONE = ChangedFile(path="c.py", kind=ChangeKind.DELETED, old_mode="100644")


def test_a_change_set_touches_old_names_too_and_knows_what_is_left() -> None:
    change = ChangeSet(base="x", tree="y", files=(MOVED, GONE))
    assert change.paths == ("a.py", "b.py", "c.py")
    assert change.present == (MOVED,)
    assert change
    assert not ChangeSet(base="x", tree="x")


def test_a_mode_changes_only_where_the_file_was_and_is() -> None:
    assert MOVED.mode_changed
    assert not GONE.mode_changed
    assert not GONE.exists
