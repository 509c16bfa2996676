"""Programs with a known bug: tests that pass on both versions are refused, real ones tell them apart.

All 40 of QuixBugs: benchmarks/quixbugs.py. These three are of the same making, and no more than the test needs.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[4]

MERGESORT = """def mergesort(arr):
    if len(arr) <= 1:
        return arr
    middle = len(arr) // 2
    left, right = mergesort(arr[:middle]), mergesort(arr[middle:])
    result = []
    while left and right:
        result.append((left if left[0] <= right[0] else right).pop(0))
    return result + left + BUG
"""
WITHIN = """def within(low, high, value):
    return low <= value BUG high
"""
ENDLESS = """import time


def endless(n):
    count = 0
    while n:
        time.sleep(0.01)
        n BUG n - 1
        count += 1
    return count
"""
PROGRAMS = {
    "mergesort": (MERGESORT, "left", "right", [[[[]], []], [[[1]], [1]], [[[2, 1]], [1, 2]], [[[3, 1, 2]], [1, 2, 3]]]),
    "within": (WITHIN, "<", "<=", [[[1, 3, 2], True], [[1, 3, 4], False], [[1, 3, 3], True]]),
    "endless": (ENDLESS, "^=", "&=", [[[7], 3], [[8], 1]]),
}
"""Source, what stands for BUG in the buggy and in the correct version, and cases."""


@pytest.fixture(scope="session")
def bench() -> ModuleType:
    spec = importlib.util.spec_from_file_location("swarmgate_bench_quixbugs", ROOT / "benchmarks/quixbugs.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mergesort", "within", "endless"])
async def test_idle_tests_are_refused_and_real_ones_tell_the_versions_apart(
    name: str, bench: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setattr(bench, "TIME_LIMIT_S", 15 if name == "endless" else 60)  # waited for twice, asleep
    source, wrong, right, cases = PROGRAMS[name]
    tests = (
        f"import pytest\n\nfrom solution import {name}\n\ntestdata = {cases!r}\n\n\n"
        f"@pytest.mark.parametrize('input_data,expected', testdata)\ndef test_{name}(input_data, expected):\n"
        f"    assert {name}(*input_data) == expected\n"
    )
    program = bench.Program(name, source.replace("BUG", wrong), source.replace("BUG", right), tests, {})
    await bench.judge(program, tmp_path)
    assert program.found == {
        "idle": "tests prove nothing",
        "hollow": "tests prove nothing",
        "buggy": "tests",
        "correct": "",
    }
    assert program.agreeing == {"mergesort": 2, "within": 2, "endless": 0}[name]
