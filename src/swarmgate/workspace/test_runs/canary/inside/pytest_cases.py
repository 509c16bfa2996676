"""The code of the canary tests, imported like any test module, so that manipulation of those affects it as well."""

from __future__ import annotations

import unittest

import pytest

RAN: list[str] = []
TOKEN = "@token@"


def fails_by_assert() -> None:
    RAN.append(TOKEN)
    left = len(RAN)
    assert left < 0, TOKEN


def fails_by_comparison() -> None:
    RAN.append(TOKEN)
    assert {"is": TOKEN} == {"is": "another"}


def fails_by_error() -> None:
    RAN.append(TOKEN)
    raise ValueError(TOKEN)


def fails_by_assertion_error() -> None:
    RAN.append(TOKEN)
    raise AssertionError(TOKEN)


def fails_by_call() -> None:
    RAN.append(TOKEN)
    pytest.fail(TOKEN)


def fails_by_missing_error() -> None:
    RAN.append(TOKEN)
    with pytest.raises(KeyError, match=TOKEN):
        len(RAN)


def passes() -> None:
    RAN.append(TOKEN)
    assert RAN


def passes_with_error() -> None:
    RAN.append(TOKEN)
    with pytest.raises(ValueError, match="invalid"):
        int(TOKEN)


class TestCase(unittest.TestCase):
    def fails_by_equality(self) -> None:
        RAN.append(TOKEN)
        self.assertEqual(TOKEN, "another")

    def fails_by_call(self) -> None:
        RAN.append(TOKEN)
        self.fail(TOKEN)

    def fails_by_error(self) -> None:
        RAN.append(TOKEN)
        raise ValueError(TOKEN)

    def fails_by_missing_error(self) -> None:
        RAN.append(TOKEN)
        with self.assertRaises(KeyError, msg=TOKEN):
            len(RAN)

    def passes(self) -> None:
        RAN.append(TOKEN)
        self.assertIn(TOKEN, RAN)
