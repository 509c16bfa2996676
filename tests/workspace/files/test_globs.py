"""Path patterns."""

from __future__ import annotations

import pytest

from swarmgate.workspace.files.globs import matches


@pytest.mark.parametrize(
    ("path", "glob", "expected"),
    [
        ("a.py", "*.py", True),
        ("src/deep/a.py", "*.py", True),
        ("src/deep/a.py", "src/*.py", False),
        ("src/a.py", "src/*.py", True),
        ("src/a.py", "./src/*.py", True),
        ("src/a.py", "src/**/*.py", True),
        ("src/x/y/a.py", "src/**/*.py", True),
        ("tests/a/b", "tests/**", True),
        ("tests", "tests/**", False),
        ("my/tests/x", "tests/**", False),
        ("a/src/test/X.java", "**/src/test/**", True),
        ("src/test/X.java", "**/src/test/**", True),
        ("a.test.tsx", "**/*.{test,spec}.{ts,tsx}", True),
        ("x/a.spec.ts", "**/*.{test,spec}.{ts,tsx}", True),
        ("a.specs.ts", "**/*.{test,spec}.{ts,tsx}", False),
        ("a1.py", "a[0-9].py", True),
        ("ab.py", "a[!0-9].py", True),
        ("a/.py", "a[!0-9].py", False),
        ("ab", "a?", True),
        ("a/", "a?", False),
        ("a+b(1).py", "a+b(1).py", True),
        ("aab.py", "a+b.py", False),
        ("[z-a]", "[z-a]", True),
        ("a[", "a[", True),
    ],
)
def test_globs(path: str, glob: str, expected: bool) -> None:  # noqa: FBT001 - parametrised
    assert matches(path, glob) is expected
