"""Tests the data model of decisions."""

from __future__ import annotations

from swarmgate.council.decision import model
from swarmgate.council.records.redaction import NAMES
from swarmgate.domain.base import Frozen


def test_every_field_is_either_a_name_or_free_text() -> None:
    """A field that is added to a model is decided upon here: kept as it is, or masked."""
    made = (model.DecisionOutcome, model.DecisionRecord, model.DecisionSummary)  # of what was masked already
    models = [each for each in vars(model).values() if isinstance(each, type) and issubclass(each, Frozen)]
    wrong = []
    for kind in (each for each in models if each.__module__ == model.__name__ and each not in made):
        for name, field in kind.model_fields.items():
            said = f"{field.annotation} {field.metadata}"
            if "str" in said and (name in NAMES) is ("AfterValidator" in said):
                wrong.append(f"{kind.__name__}.{name}")
    assert wrong == []
