"""What reaches a terminal neither steers it nor turns the order of what is read around."""

from __future__ import annotations

import json

import pytest

from swarmgate.domain.text.printable import escaped, printable

WRONG = [chr(code) for code in (0, 7, 8, 0x0B, 0x0D, 0x1B, 0x7F, 0x85, 0x9B, 0x2028, *range(0x202A, 0x202F))]
WRONG += [chr(code) for code in range(0x2066, 0x206A)]


@pytest.mark.parametrize("char", WRONG, ids=lambda char: f"U+{ord(char):04X}")
def test_it_is_shown_as_a_replacement_and_stays_itself_in_json(char: str) -> None:
    assert printable(f"a{char}b") == "a\ufffdb"
    told = escaped(json.dumps({"key": f"a{char}b"}, ensure_ascii=False))
    assert char not in told
    assert json.loads(told) == {"key": f"a{char}b"}


def test_everything_else_stays() -> None:
    text = "Zeile\n\tzwei: \u05e9\u05dc\u05d5\u05dd \u200f \U0001f600 \u00a0"
    assert printable(text) == escaped(text) == text
