"""The code of canaries. It is imported as test modules are, so that what is done to those is done to it as well."""

import unittest

import pytest

RAN = []
TOKEN = "@token@"


def fails_by_assert():
    RAN.append(TOKEN)
    left = len(RAN)
    assert left < 0, TOKEN


def fails_by_comparison():
    RAN.append(TOKEN)
    assert {"is": TOKEN} == {"is": "another"}


def fails_by_error():
    RAN.append(TOKEN)
    raise ValueError(TOKEN)


def fails_by_assertion_error():
    RAN.append(TOKEN)
    raise AssertionError(TOKEN)


def fails_by_call():
    RAN.append(TOKEN)
    pytest.fail(TOKEN)


def fails_by_missing_error():
    RAN.append(TOKEN)
    with pytest.raises(KeyError, match=TOKEN):
        len(RAN)


def passes():
    RAN.append(TOKEN)
    assert RAN


def passes_with_error():
    RAN.append(TOKEN)
    with pytest.raises(ValueError, match="invalid"):
        int(TOKEN)


class TestCase(unittest.TestCase):
    def fails_by_equality(self):
        RAN.append(TOKEN)
        self.assertEqual(TOKEN, "another")

    def fails_by_call(self):
        RAN.append(TOKEN)
        self.fail(TOKEN)

    def fails_by_error(self):
        RAN.append(TOKEN)
        raise ValueError(TOKEN)

    def fails_by_missing_error(self):
        RAN.append(TOKEN)
        with self.assertRaises(KeyError, msg=TOKEN):
            len(RAN)

    def passes(self):
        RAN.append(TOKEN)
        self.assertIn(TOKEN, RAN)
