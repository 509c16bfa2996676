"""What a program hands over, of any shape."""

from __future__ import annotations

import contextlib
import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swarmgate.agent_hooks import request as requests
from swarmgate.agent_hooks.request import HookRequest, parse
from swarmgate.errors import UsageError

JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(), lambda each: st.lists(each) | st.dictionaries(st.text(), each)
)
FIELDS = ("session_id", "cwd", "hook_event_name", "tool_name", "tool_input", "stop_hook_active", "transcript_path")


@pytest.mark.slow
@given(st.dictionaries(st.sampled_from(FIELDS), JSON))
def test_fields_of_any_kind_make_a_request(fields: dict[str, Any]) -> None:
    found = parse(json.dumps(fields).encode())
    assert Path(found.cwd).is_absolute()
    assert isinstance(found.arguments, dict)
    assert all(Path(each).is_absolute() for each in found.paths)
    assert "\0" not in found.session + found.tool + found.event


@given(st.binary())
def test_bytes_make_a_request_or_an_error_with_a_message(data: bytes) -> None:
    try:
        is_object = isinstance(json.loads(data), dict)
    except ValueError:
        is_object = False
    with contextlib.nullcontext() if is_object else pytest.raises(UsageError, match="JSON object"):
        parse(data)


@pytest.mark.parametrize("data", [b"", b"[]", b"null", b"{", b'"x"', b"[" * 100_000, b"\xff\xfe"])
def test_what_is_no_object_is_refused(data: bytes) -> None:
    with pytest.raises(UsageError, match="JSON object"):
        parse(data)


def test_more_than_a_program_hands_over_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b" " * (requests.LARGEST + 1))))
    with pytest.raises(UsageError, match="more than 16,000,000 bytes"):
        requests.read()


def test_a_folder_that_is_not_there_is_the_one_of_the_process() -> None:
    assert parse(b'{"cwd": "/no/such/folder"}').cwd == str(Path.cwd())
    assert parse(b'{"cwd": "relative"}').cwd == str(Path.cwd())


@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        ({"file_path": "src/a.py"}, ("/r/src/a.py",)),
        ({"file_path": "/r/../etc/passwd"}, ("/etc/passwd",)),
        ({"notebook_path": "n.ipynb"}, ("/r/n.ipynb",)),
        ({"filePath": "a", "absolute_path": "/b"}, ("/r/a", "/b")),
        (
            {"command": "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y\n*** End Patch"},
            ("/r/a.py", "/r/b.py"),
        ),
        ({"input": "*** Begin Patch\n*** Add File: c/d.py\n+x\n*** End Patch\n"}, ("/r/c/d.py",)),
        ({"file_path": 7}, ()),
        ({"file_path": "a\0b"}, ()),
        ({"file_path": ""}, ()),
    ],
)
def test_the_files_that_a_tool_writes(arguments: dict[str, Any], paths: tuple[str, ...]) -> None:
    assert HookRequest(cwd="/r", arguments=arguments).paths == paths


@pytest.mark.parametrize(
    ("value", "line"),
    [
        ("ls -l", "ls -l"),
        (["bash", "-lc", "rm -rf x"], "rm -rf x"),
        (["rm", "-rf", "a b"], "rm -rf 'a b'"),
        (None, None),
        ("*** Begin Patch\n*** End Patch", None),
    ],
)
def test_the_command_that_a_tool_runs(value: Any, line: str | None) -> None:
    assert HookRequest(arguments={"command": value}).command == line


@pytest.mark.parametrize("value", [7, {"a": 1}, [1], True])
def test_a_command_that_is_no_text_is_an_error(value: Any) -> None:
    with pytest.raises(UsageError, match="no text"):
        _ = HookRequest(arguments={"command": value}).command
