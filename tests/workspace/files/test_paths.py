"""Path texts: any bytes there and back, and JSON can hold them."""

from __future__ import annotations

import json

from hypothesis import example, given
from hypothesis import strategies as st

from swarmgate.workspace.files import paths


@given(st.binary(min_size=1).filter(lambda raw: b"\0" not in raw))
@example(b'"a"')
@example(b'"')
@example(b"\xff\\377")
def test_any_path_survives_the_way_through_text(raw: bytes) -> None:
    text = paths.decode(raw)
    assert paths.encode(json.loads(json.dumps(text))) == raw
    text.encode()


def test_utf8_paths_are_themselves_and_others_look_as_git_prints_them() -> None:
    assert paths.decode("dir/ü \n.py".encode()) == "dir/ü \n.py"
    assert paths.decode(b"latin-\xe9") == '"latin-\\351"'
