"""What of a turn's change its role may not have made, and that it does not stay."""

from __future__ import annotations

from tests.project import Project

from swarmgate.agents.authority.authority import Authority, Right
from swarmgate.domain.guard import Effect, GuardNote
from swarmgate.domain.review.change import ChangedFile, ChangeKind
from swarmgate.engine import Swarm
from swarmgate.engine.build import build
from swarmgate.engine.steps.agent_turn import after_turn, breaches
from swarmgate.ledger.ledger import Ledger
from swarmgate.workspace.git.repository import Repository

OLD = "def test_a() -> None:\n    assert 1 == 1\n"


def is_test(path: str) -> bool:
    return path.startswith("tests/")


def found(
    right: Right,
    *files: ChangedFile,
    before: dict[str, str] | None = None,
    after: dict[str, str] | None = None,
    original: dict[str, str] | None = None,
    deny: tuple[str, ...] = (),
) -> list[str]:
    authority = Authority(role="test_engineer", right=right, deny=deny, is_test=is_test)
    texts = ((each or {}).get for each in (before, after, original))
    return [breach.path for breach in breaches(authority, files, *texts)]


def file(path: str, kind: ChangeKind = ChangeKind.MODIFIED, **more: str) -> ChangedFile:
    return ChangedFile(path=path, kind=kind, **more)


def test_a_read_only_role_may_have_changed_nothing() -> None:
    assert found(Right.NOTHING, file("a.py"), file("tests/b.py", ChangeKind.ADDED)) == ["a.py", "tests/b.py"]


def test_who_may_write_everything_may_all_but_what_is_denied() -> None:
    moved = file("src/b.py", ChangeKind.RENAMED, old_path="secret/b.py")
    assert found(Right.ALL, file("a.py"), file("secret/x", ChangeKind.DELETED), moved, deny=("secret/**",)) == [
        "secret/x",
        "secret/b.py",
    ]


def test_a_test_that_was_renamed_is_brought_back_and_its_new_name_stays() -> None:
    moved = file("tests/new.py", ChangeKind.RENAMED, old_path="tests/old.py")
    assert found(Right.TESTS, moved, before={"tests/old.py": OLD}, after={"tests/new.py": OLD}) == ["tests/old.py"]


def test_the_test_engineer_may_change_what_is_new_and_add_to_what_was_there() -> None:
    path = "tests/test_a.py"
    weaker, more = OLD.replace("1 == 1", "True"), OLD + "\n\ndef test_b() -> None:\n    assert 2 == 2\n"
    assert found(Right.TESTS, file(path), before={path: OLD}, after={path: weaker}) == []
    assert found(Right.TESTS, file(path), before={path: OLD}, after={path: more}, original={path: OLD}) == []
    assert found(Right.TESTS, file(path), before={path: OLD}, after={path: weaker}, original={path: OLD}) == [path]
    assert found(Right.TESTS, file(path, ChangeKind.DELETED), before={path: OLD}) == [path]
    link = file(path, ChangeKind.TYPE_CHANGED, new_mode="120000")
    assert found(Right.TESTS, link, before={path: OLD}, after={path: "../x"}, original={path: OLD}) == [path]


def test_a_repository_in_the_repository_is_nobodys_to_make() -> None:
    made = file("vendor/x", ChangeKind.ADDED, new_mode="160000")
    moved_on = file("vendor/y", old_mode="160000", new_mode="160000")
    assert found(Right.ALL, made, moved_on) == ["vendor/x"]


def test_what_lies_in_the_tree_after_a_read_only_turn_goes_to_the_quarantine(project: Project) -> None:
    project.play()
    ledger = Ledger.write(project.folder)
    ctx = build(Swarm(project.root, environ={}).project, repository=Repository(project.root), ledger=ledger)
    before = ctx.repository.snapshot()
    project.write("src/calc/left.py", "x = 1\n")
    project.write("tests/test_calc.py", "")
    project.write(".coverage", "x")
    settled = after_turn(ctx, "reviewer", "review", before=before)
    assert set(settled.taken) == {".coverage", "src/calc/left.py", "tests/test_calc.py"}
    assert ctx.repository.snapshot() == settled.tree == before
    assert project.quarantined("left.py")
    (note,) = ctx.reports
    assert isinstance(note, GuardNote)
    assert (note.rule, note.effect, note.role, note.step, note.count) == (
        "authority",
        Effect.REFUSED,
        "reviewer",
        "review",
        2,
    )
    assert after_turn(ctx, "reviewer", "review", before=before).taken == ()
    assert len(ctx.reports) == 1
    ledger.close()
