"""Tests where decisions are read from: phase checkpoints and context.md."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from swarmgate.automation.drift.decisions import settled, written
from swarmgate.automation.drift.report import Decision, DecisionStatus, Place
from swarmgate.ledger.context.context_file import DERIVED_BEGIN, DERIVED_END

TEXT = f"""# Context

- a remark
- D9 [open]: Use Ruff

## Decisions

- D1 [open] (phase 2): Use argon2 for password hashes
- **ADR-007** [Superseded by ADR-9]: Configuration files are TOML
* Sessions live in Redis
    - because it is there
- D4 [rejected]: Use MongoDB
1. [x] D5 (goal 2, phase 3) - Use Vite

```
- D6 [open]: an example
```
## Notes
- D7: no status, so a remark
{DERIVED_BEGIN}
## Decisions
- D8 [open]: from the ledger
{DERIVED_END}
"""


def test_the_forms_that_a_user_may_write() -> None:
    found = {each.id: each for each in written(TEXT, file="context.md")}
    assert list(found) == ["D9", "D1", "ADR-007", "L10", "D4", "D5"]
    assert (found["D1"].text, found["D1"].phase, found["D1"].place.line) == ("Use argon2 for password hashes", 2, 8)
    assert (found["ADR-007"].status, found["ADR-007"].by) == (DecisionStatus.SUPERSEDED, "ADR-9")
    assert found["L10"].text == "Sessions live in Redis"
    assert found["D4"].status is DecisionStatus.REJECTED
    assert (found["D5"].goal, found["D5"].phase, found["D5"].text) == (2, 3, "Use Vite")


def _decided(*texts: str) -> list[DecisionStatus]:
    rows = [Decision(id=f"D{n}", text=text, place=Place()) for n, text in enumerate(texts, start=1)]
    return [each.status for each in settled(rows)]


def test_a_later_decision_that_says_so_closes_an_earlier_one() -> None:
    open_, closed = DecisionStatus.OPEN, DecisionStatus.SUPERSEDED
    assert _decided("Use Vite to bundle", "Webpack replaces Vite to bundle the front end") == [closed, open_]
    assert _decided("Names are short", "Names are long; this replaces D1") == [closed, open_]
    assert _decided("Names are short", "This replaces D11: names are long") == [open_, open_]
    assert _decided("Use Vite to bundle", "Use Jinja2 instead of Mako for templates") == [open_, open_]


@given(st.text(max_size=400))
def test_no_context_breaks_it(text: str) -> None:
    lines = len(f"## Decisions\n{text}".split("\n"))
    assert all(0 < each.place.line <= lines for each in written(f"## Decisions\n{text}", file="c"))


def test_lines_are_numbered_as_editors_do() -> None:
    text = "# Context \u2028 a\r\n\x0c b \x85 c\r\n## Decisions\r\n- D1: Use Vite\u2028now\r\n- D2: Use Ruff\r\n"
    assert [(each.id, each.place.line) for each in written(text, file="c")] == [("D1", 4), ("D2", 5)]


def test_a_mark_that_a_user_quotes_hides_nothing() -> None:
    text = f"## Decisions\n- D1: `{DERIVED_BEGIN}` stays\n- D2: Use Vite\n"
    assert [each.id for each in written(text, file="c")] == ["D1", "D2"]


def test_all_decisions_of_a_file_are_read() -> None:
    rows = "".join(f"- D{n}: Use part{n}\n" for n in range(2_100))
    assert written(f"## Decisions\n{rows}", file="c")[-1].id == "D2099"
