"""Each breaker of a turn: what it counts, what it does not, and what is said when it trips."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from swarmgate.agents.guards.breakers import Watch
from swarmgate.agents.guards.call_similarity import RepeatCounter
from swarmgate.config.guards import Bounds
from swarmgate.errors import BreakerTripped
from swarmgate.llm.model import ToolCall


class Clock:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def watch(*, replies: int = 3, max_turns: int = 80, versions: dict[str, int] | None = None, **bounds: Any) -> Watch:
    return Watch(
        who="coder (code)",
        role="coder",
        bounds=Bounds(**bounds),
        replies=replies,
        max_turns=max_turns,
        version=({} if versions is None else versions).get,
        clock=Clock(),
        model="local/m",
    )


def call(name: str, **arguments: Any) -> ToolCall:
    return ToolCall(id="c", name=name, arguments=json.dumps(arguments))


def use(watched: Watch, wanted: ToolCall, result: str = "ok", *, failed: bool = False) -> str:
    """One whole call; the warning that comes with it."""
    warning = watched.before_call(wanted)
    watched.after_call(wanted, result, failed=failed)
    return warning


def use_each(
    watched: Watch, *made: tuple[ToolCall, str], failed: Callable[[int], bool] = lambda _number: False
) -> None:
    """Calls with their results."""
    for number, (wanted, result) in enumerate(made):
        use(watched, wanted, result, failed=failed(number))


def use_all(watched: Watch, rounds: int, *wanted: ToolCall) -> None:
    for _ in range(rounds):
        for each in wanted:
            use(watched, each)


TESTS = call("run_command", command="pytest -q")


def test_the_same_call_is_warned_of_at_the_third_and_stopped_at_the_fifth_time() -> None:
    watched = watch()
    warnings = [use(watched, TESTS) for _ in range(4)]
    assert [bool(each) for each in warnings] == [False, False, True, True]
    assert "for the 3rd time" in warnings[2]
    assert "At the 5th time your turn is stopped" in warnings[2]
    with pytest.raises(BreakerTripped) as caught:
        watched.before_call(TESTS)
    error = caught.value
    assert (error.breaker, error.count, error.limit) == ("repeats", 5, 5)
    assert error.code == "BREAKER"
    assert error.message.startswith("coder (code), model local/m: made the same call 5 times")
    assert '{"command": "pytest -q"}' in error.message
    assert "[breakers.roles.coder] repeats" in error.hint
    assert error.last == ('run_command {"command": "pytest -q"} -> ok',) * 4
    assert list(watched.warned.values()) == [4]


@pytest.mark.parametrize("limit", [2, 3, 4])
def test_a_low_limit_warns_too_where_there_is_room(limit: int) -> None:
    watched = watch(repeats=limit)
    warnings = [use(watched, TESTS) for _ in range(limit - 1)]
    assert [bool(each) for each in warnings] == [False, *[True] * (limit - 2)]
    with pytest.raises(BreakerTripped):
        use(watched, TESTS)


@pytest.mark.parametrize(
    "other",
    ['{"command":"pytest -q"}', ' {"timeout_s": null, "command": "pytest -q"}', json.dumps('{"command": "pytest -q"}')],
)
def test_arguments_are_compared_by_their_meaning(other: str) -> None:
    watched = watch(repeats=3)
    use(watched, TESTS)
    assert "for the 2nd time" in use(watched, ToolCall(id="d", name="run_command", arguments=other))


def test_tests_after_each_edit_are_not_the_same_call() -> None:
    watched = watch()
    for number in range(20):
        assert not use(watched, TESTS)
        assert not use(watched, call("run_gates"))
        assert not use(watched, call("edit_file", path="a.py", old=f"{number}", new=f"{number + 1}"))


def test_tests_after_each_new_command_are_not_the_same_call() -> None:
    watched = watch()
    for number in range(20):
        assert not use(watched, TESTS)
        assert not use(watched, call("run_command", command=f"sed -i s/{number}/x/ a.py"))


def test_going_round_in_a_circle_of_commands_is_a_repetition() -> None:
    watched = watch()
    with pytest.raises(BreakerTripped, match="made the same call 5 times"):
        use_all(watched, 7, *(call("run_command", command=command) for command in ("ls", "pwd", "git status")))


def test_writing_a_and_b_by_turns_is_a_repetition() -> None:
    watched = watch()
    writes = [call("write_file", path="a.py", content=content) for content in "ab"]
    with pytest.raises(BreakerTripped, match="made the same call 5 times"):
        use_all(watched, 9, *writes)


def test_a_failed_edit_changes_nothing() -> None:
    watched = watch(errors=99)
    for _ in range(4):
        use(watched, TESTS)
    use(watched, call("edit_file", path="a.py", old="x", new="y"), "Error: old does not occur", failed=True)
    with pytest.raises(BreakerTripped):
        use(watched, TESTS)


def test_a_file_that_changed_is_read_anew() -> None:
    versions = {"a.py": 1, "b.py": 1}
    watched = watch(versions=versions)
    for number in range(9):
        versions["a.py"] = number
        assert not use(watched, call("read_file", path="a.py"))
    assert watched.rereads == 0
    with pytest.raises(BreakerTripped):
        use_all(watched, 5, call("read_file", path="b.py"))
    assert watched.rereads == 3


def test_what_was_dropped_from_the_conversation_may_be_read_again_and_counts_as_read_again() -> None:
    watched = watch(versions={"a.py": 1})
    for dropped in range(8):
        watched.before_reply(dropped=dropped)
        assert not use(watched, call("read_file", path="a.py"))
        assert not use(watched, TESTS)
    assert watched.rereads == 7


def test_reading_on_is_no_rereading() -> None:
    watched = watch(versions={"a.py": 1})
    for start in (1, 200, 400, 200):
        use(watched, call("read_file", path="a.py", start_line=start))
    use(watched, call("read_file", path="a.py"))
    assert watched.rereads == 2  # line 200 again, and the beginning


def test_calls_of_a_turn_are_bounded_and_the_next_is_not_carried_out() -> None:
    watched = watch(tool_calls=3)
    for number in range(3):
        use(watched, call("search", pattern=str(number)))
    with pytest.raises(BreakerTripped) as caught:
        watched.before_call(call("search", pattern="3"))
    assert (caught.value.breaker, caught.value.count, watched.tool_calls) == ("tool_calls", 3, 3)
    with pytest.raises(BreakerTripped):
        watched.bad_call(call("nonsense"), "no such tool")


def test_refusals_of_the_policy_are_answers_until_one_rule_has_refused_too_often_in_a_row() -> None:
    def refuse(watched: Watch, *rules: str) -> None:
        for rule in rules:
            wanted = call("run_command", command=f"{rule} {watched.tool_calls}")
            watched.before_call(wanted)
            watched.after_call(wanted, "Error: the command was not run", failed=True, refused_by=rule)

    watched = watch(errors=3)
    refuse(watched, "git-index", "git-index", "remote", "remote", "git-index", "git-index")
    use(watched, call("read_file", path="a"), "Error: no such file", failed=True)
    use(watched, call("read_file", path="b"), "Error: no such file", failed=True)
    refuse(watched, "remote", "remote")
    with pytest.raises(BreakerTripped, match="3 tool calls in a row that failed"):
        refuse(watched, "remote")


def test_errors_in_a_row_trip_and_a_success_between_starts_anew() -> None:
    watched = watch(errors=3)
    for number in range(4):
        use(watched, call("read_file", path=f"{number}"), "Error: there is no file", failed=True)
        watched.bad_call(call("nonsense"), "no such tool")
        use(watched, call("search", pattern=f"{number}"))
    assert watched.errors == 8
    use(watched, call("read_file", path="x"), "Error: there is no file", failed=True)
    watched.bad_call(call("nonsense"), "no such tool")
    with pytest.raises(BreakerTripped, match="3 tool calls in a row that failed, the last with: Error: gone") as caught:
        use(watched, call("read_file", path="y"), "Error: gone\nmore", failed=True)
    assert caught.value.last[-1] == 'read_file {"path": "y"} -> Error: gone'


def test_idle_replies_in_a_row_trip() -> None:
    watched = watch()
    for idle in (True, True, False, True, True):
        watched.after_reply(usable=not idle, refused=False, idle=idle, problem="text without a tool call")
    with pytest.raises(
        BreakerTripped, match="3 replies in a row without a tool call, the last problem being: text"
    ) as e:
        watched.after_reply(usable=False, refused=False, idle=True, problem="text without a tool call")
    assert (e.value.breaker, e.value.last) == ("idle", ())


def test_unusable_replies_and_refusals_are_bounded_by_the_loops_own_setting() -> None:
    watched = watch(replies=1)
    watched.after_reply(usable=False, refused=False, idle=False, problem="cut off")
    with pytest.raises(BreakerTripped, match="no usable reply, the last problem being: cut off") as caught:
        watched.after_reply(usable=False, refused=False, idle=False, problem="cut off")
    assert "[loop] replies" in caught.value.hint
    watched = watch(replies=1)
    watched.after_reply(usable=True, refused=True, idle=False, problem="no")
    watched.after_reply(usable=True, refused=False, idle=False, problem="")
    with pytest.raises(BreakerTripped):
        watched.after_reply(usable=True, refused=True, idle=False, problem="no")


def test_tokens_and_model_calls_trip_before_the_next_call_of_the_model() -> None:
    watched = watch(tokens=100)
    watched.before_reply()
    watched.replied(model="local/other", tokens=100)
    with pytest.raises(BreakerTripped, match="local/other: used 100 tokens; a turn may use 100"):
        watched.before_reply()
    assert watched.calls == 1
    watched = watch(max_turns=1)
    watched.before_reply()
    with pytest.raises(BreakerTripped, match="within 1 model calls") as caught:
        watched.before_reply()
    assert caught.value.breaker == "max_turns"


def test_counts_are_what_a_user_may_set() -> None:
    watched = watch(tokens=1000)
    watched.clock.now = 61.5  # type: ignore[attr-defined]  # the clock of this file
    watched.replied(model="", tokens=10)
    for _ in range(2):
        use(watched, TESTS)
    found = {each.breaker: (each.count, each.limit) for each in watched.counts}
    assert found == {
        "tool_calls": (2, 200),
        "wall_time": (61, 1800),
        "repeats": (2, 5),
        "errors": (0, 5),
        "idle": (0, 3),
        "tokens": (10, 1000),
    }
    assert "tokens" not in {each.breaker for each in watch().counts}


def test_what_was_done_last_is_short_and_on_one_line() -> None:
    watched = watch()
    for number in range(9):
        use(watched, call("write_file", path=f"{number}", content="x\n" * 9000), "\n\n  Wrote it.\nmore")
    with pytest.raises(BreakerTripped) as caught:
        watched.out_of_time()
    assert caught.value.breaker == "wall_time"
    assert len(caught.value.last) == 5
    assert all("\n" not in line and len(line) < 350 and line.endswith("-> Wrote it.") for line in caught.value.last)


# --- the same in other words ---


def command(text: str) -> ToolCall:
    return call("run_command", command=text)


LONG = "Exit code 1 after 0.{n} s.\n--- stdout\n" + "E   assert 1 == 2\n" * 40 + "1 failed in 0.{n}3s"


@pytest.mark.parametrize(
    "spelled",
    [
        lambda n: command(f"pytest -q # {n}"),
        lambda n: command("pytest" + " " * n + " -q" + "\n" * n),
        lambda n: command("# run" + "!" * n + "\npytest -q"),
        lambda n: call("write_file", path="a.py", content="A = 1\n" + "\n" * n),
        lambda n: call("write_file", path="a.py", content="A = 1" + " " * n),
        lambda n: call("read_file", path="./" * n + "a.py"),
        lambda n: call("read_file", path=f"b{n}/../a.py"),
    ],
)
def test_other_spellings_make_no_other_call(spelled: Callable[[int], ToolCall]) -> None:
    watched = watch(versions={"a.py": 1})
    warnings = [bool(use(watched, spelled(number), f"r{number}")) for number in range(4)]
    assert warnings == [False, False, True, True]
    with pytest.raises(BreakerTripped, match="made the same call 5 times"):
        watched.before_call(spelled(4))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("echo 'a  b'", "echo 'a b'"),
        ('echo "# a"', 'echo "# b"'),
        ("curl http://x/#a", "curl http://x/#b"),
        ("cat <<E > a\n# 1\nE", "cat <<E > a\n# 2\nE"),
        ("cd a\nls", "cd a ls"),
        ("echo *", "echo '*'"),
        ("echo a\\ b", "echo a b"),
    ],
)
def test_commands_that_differ_are_told_apart(one: str, other: str) -> None:
    watched = watch(repeats=2)
    use(watched, command(one), "one")
    use(watched, command(other), "other")
    with pytest.raises(BreakerTripped):
        use(watched, command(other), "other")


def test_a_command_with_other_options_that_comes_to_the_same_is_a_repetition() -> None:
    watched = watch()
    made = [
        (command(f"pytest {option}"), f"Exit code 1 after 0.{number} s.\n1 failed in 0.{number}s")
        for number, option in enumerate(("-q", "-v", "-x", "--lf", "-s"))
    ]
    with pytest.raises(BreakerTripped, match="saw the same result in other words 5 times"):
        use_each(watched, *made)
    assert list(watched.warned.values()) == [3, 4]


@pytest.mark.parametrize("tool", ["run_command", "search", "list_files"])
def test_a_long_result_seen_again_by_other_calls_is_a_repetition(tool: str) -> None:
    watched = watch()
    key = {"run_command": "command", "search": "pattern", "list_files": "glob"}[tool]
    made = [(call(tool, **{key: f"p{number} tests"}), LONG.replace("{n}", str(number))) for number in range(9)]
    with pytest.raises(BreakerTripped, match="saw the same result in other words 5 times"):
        use_each(watched, *made)
    assert watched.tool_calls == 5


def test_the_tests_of_several_files_that_pass_and_silent_commands_are_no_repetition() -> None:
    watched = watch()
    for number in range(12):
        for text, result in (
            (f"pytest -q tests/test_{number}.py", "Exit code 0 after 0.1 s.\n--- stdout\n1 passed in 0.01s"),
            (f"sed -i s/{number}/x/ a.py", "Exit code 0 after 0.0 s."),
            (f"ruff check --select=E{number}", "Exit code 0 after 0.0 s.\n--- stdout\nAll checks passed!"),
        ):
            wanted = command(text)
            assert not watched.before_call(wanted)
            assert not watched.after_call(wanted, result, failed=False)


@pytest.mark.parametrize("edits", ["edit_file", "write_file", "run_command"])
def test_ten_test_runs_with_the_same_result_and_edits_in_between_never_warn(edits: str) -> None:
    watched = watch()
    for number in range(10):
        wanted = {
            "edit_file": call("edit_file", path="a.py", old=f"{number}", new=f"{number + 1}"),
            "write_file": call("write_file", path="a.py", content=f"A = {number}\n"),
            "run_command": command(f"sed -i s/{number}/{number + 1}/ a.py"),
        }[edits]
        for made, result in ((wanted, "Exit code 0 after 0.0 s."), (TESTS, LONG), (command("pytest -v"), LONG)):
            assert not watched.before_call(made)
            assert not watched.after_call(made, result, failed=False)
    assert watched.repeats <= 2


def test_moving_the_first_line_over_the_same_part_of_a_file_is_a_repetition() -> None:
    watched = watch(versions={"a.py": 1})
    made = [
        (call("read_file", path="a.py", start_line=start), "\n".join(f"line {n}" for n in range(start, 101)))
        for start in range(1, 9)
    ]
    with pytest.raises(BreakerTripped, match="saw the same result in other words 5 times"):
        use_each(watched, *made)
    assert watched.tool_calls == 5


def test_reading_other_parts_of_a_file_is_none() -> None:
    watched = watch(versions={"a.py": 1})
    parts = [
        (1, 400),
        *((start, start + 30) for start in range(1, 400, 15)),
        *((n, n + 99) for n in range(1, 400, 100)),
    ]
    for start, end in parts:
        read = call("read_file", path="a.py", start_line=start, end_line=end)
        watched.before_call(read)
        watched.after_call(read, "\n".join(f"line {n}" for n in range(start, end + 1)), failed=False)
    assert watched.repeats <= 4


def test_a_file_that_changed_may_be_read_from_any_line() -> None:
    versions = {"a.py": 1}
    watched = watch(versions=versions)
    for number in range(1, 20):
        versions["a.py"] = number
        read = call("read_file", path="a.py", start_line=number)
        assert not watched.before_call(read)
        assert not watched.after_call(read, "x\n" * 50, failed=False)


def test_one_success_in_five_hides_no_errors() -> None:
    watched = watch()
    made = [(call("read_file", path=f"{number}"), "Error: no file\n") for number in range(99)]
    with pytest.raises(BreakerTripped, match="made 20 tool calls of which 16 failed, the last with: Error") as caught:
        use_each(watched, *made, failed=lambda number: number % 5 != 4)
    assert (caught.value.breaker, caught.value.count, watched.tool_calls) == ("errors", 16, 20)


def test_one_success_in_three_is_work() -> None:
    watched = watch()
    for number in range(99):
        use(watched, call("search", pattern=f"{number}"), "Error: no file\n", failed=number % 3 != 2)
    assert watched.errors == 66


def test_what_is_remembered_of_calls_does_not_grow_without_end() -> None:
    seen = RepeatCounter()
    for number in range(9_000):
        assert seen.again(f"{number}", 0) == 1
    assert seen.again("8999", 0) == 2
    assert seen.again("0", 0) == 1  # forgotten
