"""Tests which words are shown of an answer that still arrives: whole ones, and no more than a screen takes."""

from __future__ import annotations

from collections.abc import Mapping

from swarmgate.llm.endpoint.assembly import Assembly


def _arrived(*deltas: Mapping[str, object]) -> str:
    assembly = Assembly()
    for delta in deltas:
        assembly.add({"choices": [{"delta": delta}]})
    return assembly.newest


def test_words_are_shown_once_they_are_whole() -> None:
    assert _arrived({"content": "I read the "}, {"content": "fi"}) == "I read the "
    assert _arrived({"content": "I read the "}, {"content": "fi"}, {"content": "le\n"}) == "I read the file\n"
    assert _arrived({"content": "half"}) == ""
    assert _arrived({"content": ""}) == ""


def test_a_call_that_is_written_is_shown_as_it_would_be_read() -> None:
    begun = {"index": 0, "id": "c", "function": {"name": "write_file", "arguments": '{"content": "A = \\"1\\"\\nB '}}
    assert _arrived({"content": "Now. "}, {"tool_calls": [begun]}) == 'write_file {"content": "A = "1"\nB '


def test_of_a_long_answer_the_end_is_shown() -> None:
    words = [f"w{number} " for number in range(5000)]
    shown = _arrived(*({"content": word} for word in words))
    assert 3_900 < len(shown) <= 4_000
    assert set(shown.split()) <= {word.strip() for word in words}
    assert shown.endswith("w4999 ")
