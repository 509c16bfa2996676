"""Which changed files count as outside of the declared scope."""

from __future__ import annotations

import pytest

from swarmgate.agents.authority.scope import ScopeRules, outside
from swarmgate.domain.review.change import ChangedFile, ChangeKind


def is_test(path: str) -> bool:
    return "test" in path.lower() or "spec" in path


RULES = ScopeRules(is_test=is_test, artefacts=("*.gen.py",), allow=("docs/**",))


def changed(*paths: str, kind: ChangeKind = ChangeKind.MODIFIED) -> list[ChangedFile]:
    return [ChangedFile(path=path, kind=kind) for path in paths]


@pytest.mark.parametrize(
    "path",
    [
        "src/jwt.py",
        "tests/test_jwt.py",
        "tests/auth/jwt_test.py",
        "src/jwt.test.ts",
        "src/jwt.spec.ts",
        "src/test/java/JwtTest.java",
        "api.gen.py",
        "docs/deep/guide.md",
    ],
)
def test_what_belongs_to_the_scope_by_its_name(path: str) -> None:
    assert outside(changed(path), ["./src/jwt.py"], RULES) == ()


@pytest.mark.parametrize("path", ["src/b.py", "tests/test_other.py", "src/test_jwt_helper.py", "jwt.py", "src/JWT.py"])
def test_what_does_not(path: str) -> None:
    assert outside(changed(path), ["src/jwt.py"], RULES) == (path,)


@pytest.mark.parametrize(
    ("lock", "manifest"),
    [
        ("package-lock.json", "package.json"),
        ("web/package-lock.json", "web/package.json"),
        ("pnpm-lock.yaml", "packages/a/package.json"),
        ("yarn.lock", "package.json"),
        ("uv.lock", "pyproject.toml"),
        ("poetry.lock", "pyproject.toml"),
        ("Cargo.lock", "crates/x/Cargo.toml"),
        ("go.sum", "go.mod"),
        ("Gemfile.lock", "Gemfile"),
        ("composer.lock", "composer.json"),
        ("src/App/packages.lock.json", "src/App/App.csproj"),
    ],
)
def test_a_lock_file_goes_with_its_manifest(lock: str, manifest: str) -> None:
    assert outside(changed(lock), [manifest], RULES) == ()
    assert outside(changed(lock, manifest), ["x.py"], RULES) == (manifest,)
    assert outside(changed(lock), ["x.py"], RULES) == (lock,)
    assert outside(changed(f"other/{lock}"), [f"apart/{manifest}"], RULES) == (f"other/{lock}",)


@pytest.mark.parametrize(
    "path", ["dist/app.js", "build/lib/a.o", "src/__pycache__/a.pyc", "a.egg-info/PKG-INFO", ".coverage", "target/x"]
)
def test_build_output_counts_only_where_it_was_there_before(path: str) -> None:
    assert outside(changed(path, kind=ChangeKind.ADDED), ["x.py"], RULES) == ()
    assert outside(changed(path), ["x.py"], RULES) == (path,)
    assert outside(changed(path, kind=ChangeKind.DELETED), ["x.py"], RULES) == (path,)


def test_a_renamed_file_counts_on_both_sides() -> None:
    moved = ChangedFile(path="src/new.py", old_path="src/old.py", kind=ChangeKind.RENAMED)
    assert outside([moved], ["src/new.py"], RULES) == ("src/old.py",)
    assert outside([moved], ["x.py"], RULES) == ("src/new.py", "src/old.py")
