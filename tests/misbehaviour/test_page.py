"""docs/misbehaviour.md says what the tests do, and there are enough of them."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest
from tests.docs_scripts import script, up_to_date
from tests.misbehaviour.case import AREAS, case


@pytest.fixture(scope="module")
def render() -> ModuleType:
    return script("render_misbehaviour")


def test_the_page_is_up_to_date() -> None:
    assert up_to_date("render_misbehaviour"), "run: python docs/render_misbehaviour.py"


def test_there_are_at_least_60_cases_and_some_in_each_area(render: ModuleType) -> None:
    found = render.rows()
    assert len(found) >= 60
    assert {row.area for row in found} == set(AREAS) == set(render.AREAS)
    tried = [(row.area, row.tried) for row in found]
    assert len(set(tried)) == len(tried)


def test_what_is_no_test_is_no_case(render: ModuleType, tmp_path: Path) -> None:
    lines = "from tests.misbehaviour.case import case\n\n\n@case('files', 'a', 'b')\ndef {}() -> None:\n    pass\n"
    (tmp_path / "test_x.py").write_text(lines.format("helper"))
    with pytest.raises(ValueError, match="a case is a test"):
        render.rows(tmp_path)
    with pytest.raises(ValueError, match="a case is a test"):
        case("weather", "rain", "umbrella")(test_what_is_no_test_is_no_case)
