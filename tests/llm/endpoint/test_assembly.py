"""Chunks as the odd endpoint sends them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmgate.llm.endpoint.assembly import MAX_BODY, Assembly, EventBody, JsonBody, Malformed, Refused


def calls(*deltas: dict[str, Any]) -> list[tuple[str, str, str]]:
    assembly = Assembly()
    for delta in deltas:
        assembly.add({"choices": [{"delta": {"tool_calls": [delta]}}]})
    return [(call.id, call.name, call.arguments) for call in assembly.tool_calls]


def test_deltas_are_joined_by_index() -> None:
    assert calls(
        {"index": 0, "id": "a", "function": {"name": "f", "arguments": ""}},
        {"index": 1, "id": "b", "function": {"name": "g"}},
        {"index": 0, "function": {"arguments": '{"x":'}},
        {"index": 0, "function": {"arguments": "1}"}},
    ) == [("a", "f", '{"x":1}'), ("b", "g", "{}")]


def test_without_index_a_new_id_begins_a_new_call() -> None:
    assert calls(
        {"id": "a", "function": {"name": "f", "arguments": "{"}},
        {"function": {"arguments": "}"}},
        {"id": "b", "function": {"name": "g", "arguments": {"x": 1}}},
    ) == [("a", "f", "{}"), ("b", "g", '{"x": 1}')]


def test_the_same_index_for_every_call_is_seen_through() -> None:
    assert calls(
        {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}},
        {"index": 0, "id": "b", "function": {"name": "g", "arguments": "{"}},
        {"index": 0, "function": {"arguments": "}"}},
    ) == [("a", "f", "{}"), ("b", "g", "{}")]


def test_a_call_without_an_id_gets_one() -> None:
    assert calls({"index": 0, "function": {"name": "f"}}) == [("call_0", "f", "{}")]


@pytest.mark.parametrize("bad", [{"prompt_tokens": "x"}, {"prompt_tokens": -3}, {"prompt_tokens": float("nan")}, 3, {}])
def test_usage_that_says_nothing_is_none(bad: Any) -> None:
    assembly = Assembly()
    assembly.add({"usage": bad, "choices": []})
    assert assembly.usage is None


def test_parts_of_text_are_joined_and_cached_tokens_are_part_of_the_prompt() -> None:
    assembly = Assembly()
    assembly.add({"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"text": "b"}, 3]}}]})
    assembly.add({"usage": {"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 9}}})
    assert assembly.text == "ab"
    assert assembly.usage
    assert assembly.usage.cached_tokens == 5


@given(st.integers(1, 40), st.sampled_from(["\n", "\r\n"]))
def test_a_stream_reads_the_same_however_it_is_cut(size: int, end: str) -> None:
    chunks = [{"choices": [{"delta": {"content": text}}]} for text in ("grüße, ", "日本")]
    lines = ["event: message", ": comment", *(f"data: {json.dumps(each, ensure_ascii=False)}" for each in chunks)]
    data = end.join([*lines, "data:[DONE]", "data: {garbage after the end", ""]).encode()
    assembly = Assembly()
    body = EventBody(assembly)
    assert all(body.feed(data[at : at + size]) for at in range(0, len(data), size))
    body.finish()
    assert (assembly.text, body.done) == ("grüße, 日本", True)


def test_a_last_line_without_an_end_counts_and_done_may_be_missing() -> None:
    assembly = Assembly()
    body = EventBody(assembly)
    body.feed(b'data: {"choices": [{"delta": {"content": "a"}, "finish_reason": "stop"}]}')
    body.finish()
    assert assembly.text == "a"


def test_a_line_without_end_and_a_body_without_end_are_bounded() -> None:
    for make in (EventBody, JsonBody):
        assembly = Assembly()
        body = make(assembly)
        fed = 0
        while body.feed(b"data: x" * 10_000):
            fed += 70_000
            assert fed <= MAX_BODY
        assert assembly.too_long
        body.finish()


def test_an_error_report_and_garbage_are_told_apart() -> None:
    with pytest.raises(Refused, match="overloaded"):
        Assembly().add({"error": {"message": "overloaded"}})
    with pytest.raises(Malformed, match="invalid JSON"):
        EventBody(Assembly()).feed(b"data: {\n\n")


def _delta(place: Any, arguments: str, name: str = "", call_id: str = "") -> dict[str, Any]:
    return {"index": place, "id": call_id, "function": {"name": name, "arguments": arguments}}


@pytest.mark.parametrize(
    "deltas",
    [
        # all that there is in each chunk; all of it once more, in one or in another place; nothing, and then all
        [_delta(0, '{"x', "f", "a"), _delta(0, '{"x":"', "f", "a"), _delta(0, '{"x":"1"}', "f", "a")],
        [_delta(0, '{"x":', "f", "a"), _delta(0, '"1"}'), _delta(0, '{"x":"1"}', "f", "a")],
        [_delta(0, '{"x":"1"}', "f", "a"), _delta(0, '{"x":"1"}', "f", "a")],
        [_delta(0, '{"x":"1"}', "f", "a"), _delta(1, '{"x":"1"}', "f", "a")],
        [_delta(0, "{}", "f", "a"), _delta(0, '{"x":"1"}')],
        # an id for each chunk; a call that is none
        [_delta(0, '{"x":', "f", "a"), _delta(0, '"1"}', "", "b")],
        [_delta(0, '{"x":"1"}', "f", "a"), _delta(1, "")],
        [_delta(None, '{"x":', "f", "a"), _delta(None, '"1"}', "", "b")],
        [_delta(None, '{"x":', "f", "a"), _delta(None, '"1"}', "f", "a")],
        # places that begin elsewhere, or are no whole numbers
        [_delta(1, '{"x":', "f", "a"), _delta(1, '"1"}')],
        [_delta(0.0, '{"x":', "f", "a"), _delta(0.0, '"1"}')],
    ],
)
def test_a_call_comes_once_and_whole_however_it_is_said(deltas: list[dict[str, Any]]) -> None:
    assert calls(*deltas) == [("a", "f", '{"x":"1"}')]


@pytest.mark.parametrize("place", [0, None])
def test_calls_that_share_an_id_are_told_apart_by_their_names(place: int | None) -> None:
    assert calls(_delta(place, "{}", "f", "a"), _delta(place, '{"x":1}', "g", "a")) == [
        ("a", "f", "{}"),
        ("a", "g", '{"x":1}'),
    ]


def test_places_in_quotes_tell_calls_apart() -> None:
    deltas = [_delta("0", '{"x":', "f", "a"), _delta("1", '{"y":', "f", "b"), _delta("0", "1}"), _delta("1", "2}")]
    assert calls(*deltas) == [("a", "f", '{"x":1}'), ("b", "f", '{"y":2}')]


def test_two_calls_alike_are_two_where_their_ids_say_so_and_two_objects_are_never_one() -> None:
    assert len(calls(_delta(0, "{}", "f", "a"), _delta(1, "{}", "f", "b"))) == 2
    assert calls(_delta(0, '{"x":1}', "f", "a"), _delta(0, '{"x":2}')) == [("a", "f", '{"x":1}{"x":2}')]


def test_the_whole_message_behind_its_pieces_is_not_said_twice() -> None:
    assembly = Assembly()
    for chunk in ({"delta": {"content": "hel"}}, {"delta": {"content": "lo"}}, {"message": {"content": "hello"}}):
        assembly.add({"choices": [chunk]})
    assert assembly.text == "hello"


HELLO = b'{"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}'


@pytest.mark.parametrize(
    "stream",
    [
        b'data: {"choices":\ndata: [{"delta":{"content":"hello"},\ndata: "finish_reason":"stop"}]}\n\n',
        b"\xef\xbb\xbfdata: " + HELLO + b"\n\n",
        b"data: ping\n\ndata: null\n\ndata: {}\n\ndata: " + HELLO + b"\n\ndata: [DONE]\n\ndata: {garbage\n\n",
        b"data: " + HELLO.replace(b"hello", b'hello","note":"a\tb') + b"\n\n",
        b'data: {"choices":[{"delta":{"content":"hello"},"finish_reason":"stop"}]}',
    ],
)
def test_events_of_the_standard_and_beside_it_are_read(stream: bytes) -> None:
    assembly = Assembly()
    body = EventBody(assembly)
    for n in range(len(stream)):
        body.feed(stream[n : n + 1])
    body.finish()
    assert (assembly.text, assembly.finish_reason) == ("hello", "stop")


@pytest.mark.parametrize(
    ("chunk", "said"),
    [
        ({"message": "Overloaded", "type": "overloaded_error"}, "Overloaded"),
        ({"errors": [{"message": "no capacity"}]}, "no capacity"),
        ({"detail": "the model crashed"}, "the model crashed"),
        ({"choices": None, "base_resp": {"status_code": 1002, "status_msg": "rate limit"}}, "rate limit"),
        (
            {"choices": [{"delta": {}, "finish_reason": "error", "error": {"message": "upstream died"}}]},
            "upstream died",
        ),
        ({"choices": [{"delta": {"content": "ha"}, "finish_reason": "network_error"}]}, "network_error"),
        ({"choices": [{"delta": {}, "finish_reason": "abort"}]}, "abort"),
        ({"choices": [{"delta": {}, "finish_reason": "insufficient_system_resource"}]}, "resource"),
    ],
)
def test_what_went_wrong_on_the_way_is_told_and_is_no_answer(chunk: dict[str, Any], said: str) -> None:
    with pytest.raises(Refused, match=said):
        Assembly().add(chunk)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("max_tokens", "length"),
        ("MAX_TOKENS", "length"),
        ("model_length", "length"),
        ("stop", "stop"),
        ("end_turn", "end_turn"),
        ("content_filter", "content_filter"),
    ],
)
def test_every_word_for_too_long_is_length(said: str, meant: str) -> None:
    assembly = Assembly()
    assembly.add({"choices": [{"delta": {"content": "ha"}, "finish_reason": said}]})
    assert assembly.finish_reason == meant


def test_an_error_report_in_place_of_an_answer_is_one() -> None:
    for body in (
        b'{"errors": [{"message": "no capacity"}]}',
        b'{"base_resp": {"status_code": 1008, "status_msg": "no"}}',
    ):
        reader = JsonBody(Assembly())
        reader.feed(body)
        with pytest.raises(Refused, match="no"):
            reader.finish()
