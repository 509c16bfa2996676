from __future__ import annotations

from swarmgate.automation.drift.gaps import requirements, uncovered
from swarmgate.automation.drift.words import content, tokens
from swarmgate.domain.drift import Place

SPEC = """# Shop

The shop is old.

- Customers export their invoices as PDF
- Orders are archived after a year
The service must throttle anonymous visitors.

## Out of scope
- Discount vouchers for partners
"""


def test_requirements_are_points_and_sentences_that_ask() -> None:
    found = [(text, place.line) for text, place in requirements(SPEC, Place(file="spec.md"))]
    assert found == [
        ("Customers export their invoices as PDF", 5),
        ("Orders are archived after a year", 6),
        ("The service must throttle anonymous visitors.", 7),
    ]


def test_a_requirement_is_covered_by_tasks_that_speak_of_it_in_other_endings() -> None:
    plan = [
        content(tokens(text))
        for text in ("PDF exporter for the invoices of a customer", "Archive orders of the last year", "Login page")
    ]
    missing = [text for text, _, _ in uncovered(requirements(SPEC, Place()), plan)]
    assert missing == ["The service must throttle anonymous visitors."]
    assert not list(uncovered(requirements(SPEC, Place()), []))
