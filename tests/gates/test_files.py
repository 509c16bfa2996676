"""Languages, traits and selection of files."""

from __future__ import annotations

import pytest

from swarmgate.gates.files import FileFilter, Source, Trait, language_of, traits_of


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("a/b.py", "python"), ("x.tsx", "typescript"), ("Dockerfile", "dockerfile"), (".env", "ini"),
        (".env.local", "ini"),
        ("tsconfig.json", "jsonc"), ("tsconfig.app.json", "jsonc"), (".vscode/settings.json", "jsonc"),
        ("a.json", "json"),
        ("LICENSE", ""), ("a.unknown", ""), ("A.YML", "yaml"),
    ],
)  # fmt: skip
def test_language(path: str, language: str) -> None:
    assert language_of(path) == language


@pytest.mark.parametrize(
    ("path", "traits"),
    [
        ("web/node_modules/x/index.js", {Trait.VENDORED}), ("vendor/a.go", {Trait.VENDORED}),
        ("dist/app.js", {Trait.GENERATED}),
        ("static/app.min.js", {Trait.GENERATED}), ("api_pb2.py", {Trait.GENERATED}), ("uv.lock", {Trait.LOCK}),
        ("package-lock.json", {Trait.LOCK}), ("tests/test_a.py", {Trait.TEST}), ("src/a_test.go", {Trait.TEST}),
        ("a.spec.ts", {Trait.TEST}), ("src/latest.py", set()), ("src/contest.py", set()), ("README.md", {Trait.DOC}),
    ],
)  # fmt: skip
def test_traits(path: str, traits: set[Trait]) -> None:
    assert traits_of(path) == traits


def test_selection_counts_what_it_leaves_out() -> None:
    paths = ["a.py", "b.py", "vendor/c.py", "uv.lock", "d.js"]
    sources = [Source(path, language_of(path), traits_of(path)) for path in paths]
    sources += [Source("e.py", "python", frozenset({Trait.LARGE})), Source("l.py", "python", frozenset({Trait.LINK}))]
    selection = FileFilter(languages=("python",), exclude=("b.py",)).select(sources)
    assert [source.path for source in selection.sources] == ["a.py"]
    assert selection.note == "3 skipped: 1 large, 1 link, 1 vendored"


def test_narrower() -> None:
    base = FileFilter(languages=("python",), exclude=("x",))
    assert FileFilter(languages=("python", "go"), exclude=()).narrower_than(base) == ()
    assert FileFilter(languages=("go",), exclude=("x",)).narrower_than(base) == ("languages",)
    assert FileFilter().narrower_than(base) == ()
