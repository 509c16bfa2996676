"""Tests which fields of a critique are redacted on record."""

from __future__ import annotations

from swarmgate.council.critique import model
from swarmgate.council.records.redaction import NAMES
from swarmgate.domain.base import Frozen

FREE = {("Critique", "name"), ("Critique", "target"), ("Criterion", "gate")}
"""Free by their type, and names all the same: shared by runs, or found by them."""

TABLES = {"given_weights"}
"""The keys of tables are never masked."""


def test_every_field_is_either_a_name_or_free_text() -> None:
    """A field that is added to a model is decided upon here: kept as it is, or masked."""
    kinds = [each for each in vars(model).values() if isinstance(each, type) and issubclass(each, Frozen)]
    own = [each for each in kinds if each.__module__ == model.__name__ and each is not model.CritiqueSummary]
    assert len(own) > 8
    wrong = []
    for kind in own:
        for name, given in kind.model_fields.items():
            spelled = f"{given.annotation} {given.metadata}"
            decided = "str" not in spelled or (kind.__name__, name) in FREE or name in TABLES
            if not decided and (name in NAMES) is ("AfterValidator" in spelled):
                wrong.append(f"{kind.__name__}.{name}")
    assert wrong == []
