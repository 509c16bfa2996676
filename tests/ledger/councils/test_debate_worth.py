"""What was measured of debates: kept, read again, and told where it cannot be."""

from __future__ import annotations

from pathlib import Path

import pytest

from swarmgate.domain.task.debate_rules import DebateWorth
from swarmgate.errors import ConfigError, LedgerWriteFailed
from swarmgate.ledger.councils import debate_worth
from swarmgate.ledger.files.folder import SwarmFolder

WORTH = DebateWorth(
    decision="defer",
    lift=-1.5,
    interval=(-6.0, 3.0),
    items=80,
    models=("local/a", "local/b"),
    fixtures="ab" * 32,
    date="2026-11-21T12:00:00+00:00",
)


def test_what_was_kept_is_read_again(tmp_path: Path) -> None:
    folder = SwarmFolder(tmp_path)
    assert debate_worth.read(folder) is None
    debate_worth.keep(folder, WORTH)
    assert debate_worth.read(folder) == WORTH
    debate_worth.keep(folder, WORTH.model_copy(update={"decision": "use", "lift": 12.0, "interval": (-6.0, 30.0)}))
    found = debate_worth.read(folder)
    assert found is not None
    assert found.decision == "use"
    assert "-1.5 points (-6.0 to +3.0)" in WORTH.description(["local/a", "local/b"])
    assert "measured with" not in WORTH.description(["local/b"])
    assert "measured with local/a, local/b, and not with local/c" in WORTH.description(["local/a", "local/c"])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "EOF"),
        ("{", "EOF"),
        ("[]", "object"),
        ('{"decision": "perhaps"}', "`decision`"),
        (WORTH.model_dump_json().replace("80", "-1", 1), "`items`"),
        (WORTH.model_dump_json().replace("-1.5", "1e999"), "`lift`"),
        (WORTH.model_dump_json()[:-1] + ', "more": 1}', "`more`"),
        ("\x00\x01", "JSON"),
        (WORTH.model_dump_json().replace("80", "0", 1), "`items`"),
        (WORTH.model_dump_json().replace("-1.5", "60.0", 1), "not within its interval"),
        (WORTH.model_dump_json().replace("[-6.0,3.0]", "[70.0,-50.0]"), "not within its interval"),
        (WORTH.model_dump_json().replace("defer", "use"), 'is decided as "defer"'),
        (WORTH.model_dump_json().replace('["local/a","local/b"]', "[]"), "`models`"),
        (WORTH.model_dump_json().replace("2026-11-21T12:00:00+00:00", "never"), "isoformat"),
        (WORTH.model_dump_json().replace("ab" * 32, ""), "`fixtures`"),
    ],
)
def test_a_damaged_file_is_named_with_the_key(tmp_path: Path, text: str, told: str) -> None:
    folder = SwarmFolder(tmp_path)
    folder.path.mkdir()
    folder.debate_worth.write_text(text)
    with pytest.raises(ConfigError) as caught:
        debate_worth.read(folder)
    assert ".swarm/debate-worth.json" in caught.value.message
    assert told in caught.value.message
    assert "swarm eval debate" in caught.value.hint


def test_a_folder_in_its_place_is_told(tmp_path: Path) -> None:
    folder = SwarmFolder(tmp_path)
    folder.debate_worth.mkdir(parents=True)
    with pytest.raises(ConfigError):
        debate_worth.read(folder)
    with pytest.raises(LedgerWriteFailed):
        debate_worth.keep(folder, WORTH)
