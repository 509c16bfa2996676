"""Tests that tables of languages, file kinds and tool settings are defined in one place only."""

from __future__ import annotations

import pytest

from swarmgate.gates.project.files import (
    CODE,
    DATA,
    Trait,
    is_of_tests,
    language_of,
    named_as_test,
    steers,
    suffixes_of,
    traits_of,
)


@pytest.mark.parametrize("language", sorted(CODE))
def test_a_suffix_leads_to_the_language_that_has_it(language: str) -> None:
    assert {language_of(f"a/b{suffix}") for suffix in suffixes_of(language)} == {language}


def test_no_language_is_code_and_data() -> None:
    assert not CODE & DATA


@pytest.mark.parametrize(
    "path",
    [
        "tests/a.py", "integration-tests/a.py", "pkg/e2e_tests/a.go", "Core.Tests/A.cs", "src/CoreTests/A.cs",
        "test_a.py", "a_test.go", "a.spec.ts", "a.test.js", "FooTest.java", "conftest.py", "testing/a.py",
        "src/__tests__/a.js", "testdata/a.py", "spec/a.rb",
    ],
)  # fmt: skip
def test_a_test_is_told_by_its_name_or_its_folder(path: str) -> None:
    assert Trait.TEST in traits_of(path)


@pytest.mark.parametrize(
    "path", ["a.py", "latest/a.py", "contest/a.py", "inspect/a.py", "attests/a.py", "testimony.py", "protests/a.go"]
)
def test_a_word_that_ends_like_one_is_no_test(path: str) -> None:
    assert Trait.TEST not in traits_of(path)
    assert not is_of_tests(path)


def test_what_a_package_offers_to_testers_is_a_product_of_its_own() -> None:
    assert Trait.TEST not in traits_of("numpy/testing/a.py")
    assert is_of_tests("numpy/testing/a.py")


def test_a_name_alone() -> None:
    assert named_as_test("test_a.py")
    assert not named_as_test("a.py")


@pytest.mark.parametrize("path", ["pyproject.toml", "a/package.json", "go.mod", "Makefile", "requirements-dev.txt"])
def test_what_steers_a_project(path: str) -> None:
    assert steers(path)
    assert not steers(f"{path}/a.py")
