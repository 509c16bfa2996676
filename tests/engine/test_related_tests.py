"""Tests which tests are related to a change, and when nobody can tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest

from swarmgate.engine.related_tests import related_tests
from swarmgate.workspace.detect import detect, is_test_path
from swarmgate.workspace.git.repository import Repository

FILES = {
    "src/money.py": "RATE = 2\n",
    "src/cart.py": "from src.money import RATE\n",
    "src/mail.py": "SENDER = 'x'\n",
    "src/data.json": "{}\n",
    "tests/test_cart.py": "from src.cart import RATE\n\n\ndef test_cart():\n    assert RATE\n",
    "tests/test_mail.py": "from src.mail import SENDER\n\n\ndef test_mail():\n    assert SENDER\n",
    "tests/deep/conftest.py": "from src.mail import SENDER\n",
    "tests/deep/test_deep.py": "def test_deep():\n    pass\n",
    "README.md": "# Shop\n",
}


@pytest.fixture
def shop(repo: Path, git: Callable[..., str]) -> Path:
    for path, text in FILES.items():
        (repo / path).parent.mkdir(parents=True, exist_ok=True)
        (repo / path).write_text(text)
    git(repo, "add", "--all")
    git(repo, "commit", "-qm", "A shop")
    return repo


def related(
    root: Path, changed: Mapping[str, str | None], ran: Mapping[str, tuple[str, ...]] = MappingProxyType({})
) -> tuple[str, ...]:
    """The tests that are related to these texts; a file with none is deleted."""
    repository = Repository.discover(root)
    for path, text in changed.items():
        if text is None:
            (root / path).unlink()
        else:
            (root / path).write_text(text)
    globs = detect(root, repository.list_tree(repository.snapshot())).test_globs
    change = repository.changes(repository.head_tree(), repository.snapshot())
    return related_tests(repository, change, lambda path: is_test_path(path, globs), ran)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("src/money.py", ("tests/test_cart.py",)),  # by another module
        ("src/mail.py", ("tests/deep/test_deep.py", "tests/test_mail.py")),  # by a conftest.py
        ("tests/test_cart.py", ("tests/test_cart.py",)),
        ("src/data.json", ()),  # who reads it, no import tells
        ("tests/deep/conftest.py", ()),
        ("README.md", ()),
        ("src/unused.py", ()),
    ],
)
def test_what_is_related_to_a_change(shop: Path, path: str, expected: tuple[str, ...]) -> None:
    assert related(shop, {path: "NEW = 1\n"}) == expected


def test_prose_beside_code_is_related_to_nothing(shop: Path) -> None:
    assert related(shop, {"README.md": "x\n", "src/money.py": "RATE = 3\n"}) == ("tests/test_cart.py",)


def test_what_imported_a_deleted_module_is_related_to_that(shop: Path) -> None:
    assert related(shop, {"src/money.py": None}) == ("tests/test_cart.py",)


def test_what_was_seen_to_run_a_file_is_related_though_no_import_tells(shop: Path) -> None:
    ran = {"src/money.py": ("tests/test_mail.py", "tests/test_gone.py"), "src/mail.py": ("tests/deep/test_deep.py",)}
    assert related(shop, {"src/money.py": "RATE = 3\n"}, ran) == ("tests/test_cart.py", "tests/test_mail.py")
