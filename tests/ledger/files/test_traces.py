from __future__ import annotations

import json

import pytest

from swarmgate.domain.base import Frozen
from swarmgate.domain.usage import Usage
from swarmgate.errors import LedgerWriteFailed
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.ledger.files.traces import TraceStore


class Purpose(Frozen):
    role: str = "reviewer"
    step: str = "review"


class Reply(Frozen):
    text: str = ""
    usage: Usage = Usage()


class Exchange(Frozen):
    purpose: Purpose
    reply: Reply


def _exchange(tokens: int, text: str = "") -> Exchange:
    usage = Usage(calls=1, prompt_tokens=tokens)
    return Exchange(
        purpose=Purpose.model_validate({"role": "coder", "step": "code"}), reply=Reply(text=text, usage=usage)
    )


def test_each_call_has_a_file_named_by_position_number_role_and_step(folder: SwarmFolder) -> None:
    position = 42
    store = TraceStore(folder, lambda: position)
    store.record(_exchange(1, "naïve"))
    store.record(_exchange(2))
    position = 43
    store.record(_exchange(3))
    names = sorted(path.name for path in folder.traces.iterdir())
    assert names == ["000042-001-coder-code.json", "000042-002-coder-code.json", "000043-001-coder-code.json"]
    assert json.loads((folder.traces / names[0]).read_text(encoding="utf-8"))["reply"]["text"] == "naïve"


def test_a_new_run_at_the_same_position_overwrites_nothing(folder: SwarmFolder) -> None:
    for _ in range(2):
        TraceStore(folder, lambda: 42).record(_exchange(1))
    assert len(list(folder.traces.iterdir())) == 2


def test_the_cost_of_calls_whose_step_died_is_found(folder: SwarmFolder) -> None:
    store = TraceStore(folder, lambda: 42)
    assert store.unrecorded(42) == ()
    store.record(_exchange(10))
    store.record(_exchange(5))
    assert sum(call.usage.prompt_tokens for call in store.unrecorded(42)) == 15
    assert store.unrecorded(43) == ()


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"reply": null}', '{"reply": {"usage": {"calls": "many"}}}', '{"reply": {}}']
)
def test_a_damaged_trace_costs_nobody_the_run(folder: SwarmFolder, damage: str) -> None:
    store = TraceStore(folder, lambda: 42)
    store.record(_exchange(10))
    (folder.traces / "000042-002-coder-code.json").write_text(damage)
    assert sum(call.usage.prompt_tokens for call in store.unrecorded(42)) == 10


def test_a_disk_that_refuses_is_named(folder: SwarmFolder) -> None:
    folder.traces.write_text("in the way")
    with pytest.raises(LedgerWriteFailed, match=r"traces/000042-001-coder-code\.json could not be written"):
        TraceStore(folder, lambda: 42).record(_exchange(1))


def test_an_answer_at_which_runs_die_again_and_again_is_asked_anew(folder: SwarmFolder) -> None:
    folder.traces.mkdir(parents=True, exist_ok=True)
    for number, key in ((5, "a"), (6, "b")):
        data = {"key": key, "reply": {"text": key}}
        (folder.traces / f"{number:06}-1-coder-code.json").write_text(json.dumps(data))
    store = TraceStore(folder, lambda: 9)
    assert list(store.finished(5)) == ["a", "b"]
    assert list(store.finished(5, (7, 8))) == ["a", "b"]
    assert list(store.finished(5, (7, 8, 9))) == ["a"]
    assert store.finished(5, (7, 8, 9, 10)) == {}
