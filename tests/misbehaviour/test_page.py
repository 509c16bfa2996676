"""docs/misbehaviour.md says what the tests do, and there are enough of them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from tests.misbehaviour.case import AREAS, case

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("render_misbehaviour", ROOT / "docs/render_misbehaviour.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_up_to_date(script: ModuleType) -> None:
    page = (ROOT / "docs/misbehaviour.md").read_text("utf-8")
    assert page == script.rendered(page), "run: python docs/render_misbehaviour.py"


def test_there_are_at_least_60_cases_and_some_in_each_area(script: ModuleType) -> None:
    found = script.rows()
    assert len(found) >= 60
    assert {row.area for row in found} == set(AREAS) == set(script.AREAS)
    tried = [(row.area, row.tried) for row in found]
    assert len(set(tried)) == len(tried)


def test_what_is_no_test_is_no_case(script: ModuleType, tmp_path: Path) -> None:
    lines = "from tests.misbehaviour.case import case\n\n\n@case('files', 'a', 'b')\ndef {}() -> None:\n    pass\n"
    (tmp_path / "test_x.py").write_text(lines.format("helper"))
    with pytest.raises(ValueError, match="a case is a test"):
        script.rows(tmp_path)
    with pytest.raises(ValueError, match="a case is a test"):
        case("weather", "rain", "umbrella")(test_what_is_no_test_is_no_case)
