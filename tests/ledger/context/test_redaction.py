"""What looks like a key is masked in pages; words that begin like one stay."""

from __future__ import annotations

import pytest

from swarmgate.ledger.context.redaction import without_keys


@pytest.mark.parametrize(
    "key",
    [
        "sk-proj-0123456789abcdef",
        "ghp_0123456789abcdefghij",
        "AKIA0123456789ABCDEF",
        "Bearer 0123456789abcdef",
        r"sk-or-v1-01234567\_\_89abcdef",
    ],
)
def test_a_key_is_masked_to_its_end(key: str) -> None:
    assert without_keys(f"with {key}, and ({key}).") == "with [redacted], and ([redacted])."


@pytest.mark.parametrize(
    "words", ["scikit-learn and sk-learn-extensions", "task-force 2024-11-21 0123456789", "Bearer authentication", ""]
)
def test_words_stay(words: str) -> None:
    assert without_keys(words) == words
