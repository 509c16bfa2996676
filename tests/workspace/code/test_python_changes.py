"""Where the probes of changed statements go."""

from __future__ import annotations

import ast

from swarmgate.workspace.code.instrumentation import Mode
from swarmgate.workspace.code.python_changes import probed


def test_each_added_statement_has_a_probe_of_its_own() -> None:
    text = (
        b'"""Doc."""\nfrom __future__ import annotations\nimport os\n\n\n@staticmethod\ndef f(x):\n    """Doc."""\n'
        b"    global y\n    if x:\n        return 1\n    elif not x: y = 2\n    else:\n        y = 3; x = 4\n"
        b"    match x:\n        case 4:\n            pass\n    return [\n        y\n    ]\n"
    )
    found = probed("a.py", text, range(1, 21), 0)
    assert found is not None
    assert [unit.line for unit in found.units] == [3, 7, 10, 11, 12, 14, 14, 15, 17, 18]
    ast.parse(found.text(Mode.PASS, ("/nowhere",), name="_p"))
    few = probed("a.py", text, {19}, 0)
    assert few is not None
    assert [unit.line for unit in few.units] == [18]
    assert probed("a.py", b"def f(:\n", {1}, 0) is None


def test_what_no_program_runs_is_not_asked_for() -> None:
    text = (
        b"import typing\nif typing.TYPE_CHECKING:\n    import os\n    if os: X = int\nelse:\n    X = str\n"
        b"class P(typing.Protocol):\n    def size(self) -> int: ...\n    def name(self) -> str:\n        return 'p'\n"
        b"if not typing.TYPE_CHECKING:\n    X = 1\n"
    )
    found = probed("a.py", text, range(1, 13), 0)
    assert found is not None
    assert [unit.line for unit in found.units] == [1, 2, 6, 7, 8, 9, 10, 11, 12]
