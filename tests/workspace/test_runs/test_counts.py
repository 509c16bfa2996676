"""Counts from what test runners print."""

from __future__ import annotations

import pytest

from swarmgate.errors import ConfigError
from swarmgate.workspace.test_runs.counts import Counts, contradiction, read, read_with

CASES: list[tuple[str, tuple[int, int, int] | None, tuple[str, ...], str]] = [
    (
        "pytest",
        (3, 2, 2),
        ("tests/test_a.py::test_b", "tests/test_c.py"),
        """\
FAILED tests/test_a.py::test_b - assert 1 == 2
ERROR tests/test_c.py
==== 1 failed, 3 passed, 2 skipped, 1 warning, 1 error in 0.12s ====
""",
    ),
    (
        "pytest",
        (4, 0, 1),
        (),
        """\
....
4 passed, 1 xfailed in 61.02s (0:01:01)
""",
    ),
    (
        "pytest",
        None,
        (),
        """\
no tests ran in 0.01s
""",
    ),
    (
        "unittest",
        (1, 1, 1),
        ("test_a (test_x.T.test_a)",),
        """\
F.s
FAIL: test_a (test_x.T.test_a)
Ran 3 tests in 0.001s

FAILED (failures=1, skipped=1)
""",
    ),
    (
        "unittest",
        (5, 0, 0),
        (),
        """\
Ran 5 tests in 0.001s

OK (expected failures=1)
""",
    ),
    (
        "unittest",
        (0, 0, 0),
        (),
        """\
Ran 0 tests in 0.000s

OK
""",
    ),
    (
        "cargo",
        (5, 1, 2),
        ("a::c",),
        """\
test a::b ... ok
test a::c ... FAILED
test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s

test result: ok. 4 passed; 0 failed; 2 ignored; 0 measured; 1 filtered out
""",
    ),
    (
        "cargo",
        (2, 1, 0),
        (),
        """\
     Summary [   0.007s] 3 tests run: 2 passed, 1 failed, 0 skipped
""",
    ),
    (
        "go",
        (1, 1, 1),
        ("TestB",),
        """\
=== RUN   TestA
--- PASS: TestA (0.00s)
    --- PASS: TestA/sub (0.00s)
--- FAIL: TestB (0.00s)
--- SKIP: TestC (0.00s)
FAIL
FAIL\texample.com/x\t0.003s
""",
    ),
    (
        "go",
        (2, 0, 0),
        (),
        """\
ok  \texample.com/a\t0.003s
ok  \texample.com/b\t(cached)
?   \texample.com/c\t[no test files]
ok  \texample.com/d\t0.1s [no tests to run]
""",
    ),
    (
        "go",
        (1, 1, 0),
        ("TestB",),
        """\
--- FAIL: TestB (0.00s)
    a_test.go:5: no
FAIL
FAIL\texample.com/a\t0.003s
ok  \texample.com/b\t0.1s
FAIL
""",
    ),
    (
        "go",
        None,
        (),
        """\
?   \texample.com/c\t[no test files]
""",
    ),
    (
        "jest",
        (2, 1, 1),
        ("sum \u203a adds",),
        """\
FAIL ./a.test.js
  ● sum \u203a adds

Tests:       1 failed, 1 skipped, 2 passed, 4 total
Time: 1 s
""",
    ),
    (
        "jest",
        (7, 0, 0),
        (),
        """\
Tests:       7 passed, 7 total
""",
    ),
    (
        "vitest",
        (2, 1, 1),
        ("src/a.test.ts > sum > adds",),
        """\
 FAIL  src/a.test.ts > sum > adds
 Test Files  1 failed | 1 passed (2)
      Tests  1 failed | 2 passed | 1 skipped (4)
""",
    ),
    (
        "vitest",
        (3, 0, 0),
        (),
        """\
\x1b[2m      Tests \x1b[22m \x1b[1m\x1b[32m3 passed\x1b[39m\x1b[22m\x1b[90m (3)\x1b[39m
""",
    ),
    (
        "mocha",
        (2, 1, 1),
        (),
        """\
  2 passing (5ms)
  1 pending
  1 failing
""",
    ),
    (
        "node",
        (2, 1, 0),
        ("fails",),
        """\
not ok 2 - fails
# tests 3
# pass 2
# fail 1
# cancelled 0
# skipped 0
# todo 0
""",
    ),
    (
        "node",
        (1, 1, 0),
        ("b",),
        """\
✔ a (1ms)
✖ b (0.5ms)
\u2139 tests 2
\u2139 pass 1
\u2139 fail 1
✖ failing tests:
✖ b (0.5ms)
""",
    ),
    (
        "bun",
        (3, 1, 0),
        ("sum > adds",),
        """\
(fail) sum > adds [0.10ms]
 3 pass
 1 fail
 9 expect() calls
""",
    ),
    (
        "maven",
        (4, 2, 1),
        (),
        """\
[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.02 s -- in A
[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1
[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0
""",
    ),
    (
        "gradle",
        (1, 1, 1),
        ("CalcTest > adds()",),
        """\
CalcTest > adds() FAILED

3 tests completed, 1 failed, 1 skipped
""",
    ),
    (
        "rspec",
        (3, 1, 1),
        ("./spec/a_spec.rb:4",),
        """\
5 examples, 1 failure, 1 pending

rspec ./spec/a_spec.rb:4 # A adds
""",
    ),
    (
        "phpunit",
        (5, 0, 0),
        (),
        """\
OK (5 tests, 9 assertions)
""",
    ),
    (
        "phpunit",
        (3, 1, 1),
        ("App\\ATest::testB",),
        """\
1) App\\ATest::testB
Tests: 5, Assertions: 9, Failures: 1, Skipped: 1.
""",
    ),
    (
        "dotnet",
        (4, 1, 0),
        ("N.T.B",),
        """\
  Failed N.T.B [3 ms]
Failed!  - Failed:     1, Passed:     4, Skipped:     0, Total:     5, Duration: 9 ms
""",
    ),
    (
        "minitest",
        (2, 2, 1),
        (),
        """\
5 runs, 9 assertions, 1 failures, 1 errors, 1 skips
""",
    ),
    (
        "",
        None,
        (),
        """\
everything is fine
""",
    ),
    (
        "",
        None,
        (),
        """\
compiled 12 files, 3 errors in total
""",
    ),
]


@pytest.mark.parametrize(("runner", "numbers", "failures", "output"), CASES)
def test_what_runners_print(
    runner: str, numbers: tuple[int, int, int] | None, failures: tuple[str, ...], output: str
) -> None:
    found = read(runner, output)
    if numbers is None:
        assert found is None
    else:
        assert found == Counts(passed=numbers[0], failed=numbers[1], skipped=numbers[2], failures=failures)


@pytest.mark.parametrize(("runner", "numbers", "failures", "output"), [case for case in CASES if case[0] != "go"])
def test_an_unknown_runner_s_output_is_recognised_by_its_form(
    runner: str, numbers: tuple[int, int, int] | None, failures: tuple[str, ...], output: str
) -> None:
    found = read("make", output)
    assert (found and (found.passed, found.failed, found.skipped)) == numbers


def test_the_user_s_own_pattern() -> None:
    pattern = r"(?P<passed>\d+) good(?:, (?P<failed>\d+) bad)?"
    assert read_with(pattern, "3 good, 1 bad\n\x1b[1m2 good\x1b[0m\n") == Counts(passed=5, failed=1)
    assert read_with(pattern, "nothing") is None
    for wrong in ("(", r"(\d+) good"):
        with pytest.raises(ConfigError, match=r"tests\.count_pattern"):
            read_with(wrong, "")


@pytest.mark.parametrize(
    ("passed", "printed", "silent"),
    [
        (2, "..  [100%]\n2 passed in 0.01s\n", False),
        (3, "==== 2 passed, 1 skipped, 1 xpassed, 2 warnings in 65.00s (0:01:05) ====\n", False),
        (1, "2 failed in 0.01s\n2 passed in 0.01s\n", False),  # two runs: the report is the last one's
        (2, "Results (0.03s):\n       2 passed\n", False),  # pytest-sugar
        (2, "..  [100%]\n", True),
        (1, "1 passed, 3 subtests passed in 0.01s\n", False),
    ],
)
def test_a_report_and_a_last_line_that_agree(passed: int, printed: str, *, silent: bool) -> None:
    assert contradiction(Counts(passed=passed), printed, silent=silent) == ""


@pytest.mark.parametrize(
    ("passed", "printed", "silent"),
    [
        (2, "..  [100%]\n", False),
        (2, "", False),
        (2, "1 passed in 0.01s\n", False),
        (2, "\x1b[31m2 passed, 1 error in 0.01s\x1b[0m\n", True),
        (2, "1 failed, 2 passed in 0.01s\n", True),
    ],
)
def test_a_report_that_the_last_line_contradicts(passed: int, printed: str, *, silent: bool) -> None:
    assert contradiction(Counts(passed=passed), printed, silent=silent)
