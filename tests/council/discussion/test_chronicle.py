"""What is read again of a discussion can have happened: hashes alone do not make it so."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.council.discussion.records import CAST, standard

from swarmgate.council.discussion.chronicle import Chronicle, record_of
from swarmgate.council.records import Records
from swarmgate.domain.discussion import DiscussionRecord, Link, Relation
from swarmgate.errors import LedgerError
from swarmgate.journal.documents import FileDocuments
from swarmgate.ledger.folder import SwarmFolder


def kept(root: Path, record: DiscussionRecord) -> Records:
    records = Records(FileDocuments(SwarmFolder(root).path), clean=lambda value: value)
    log = Chronicle(records, record.discussion)
    log.confirm(CAST)
    for held in record.rounds:
        log.keep_round(held)
    return records


def test_a_record_that_breaks_no_law_is_read_again(tmp_path: Path) -> None:
    record = standard()
    found = record_of(kept(tmp_path, record), record.discussion.id)
    assert found.rounds == record.rounds


def test_a_round_whose_hash_fits_and_whose_links_do_not_is_refused(tmp_path: Path) -> None:
    record = standard()
    first = record.rounds[0]
    messages = list(first.messages)
    messages[3] = messages[3].model_copy(update={"links": (Link(to="r1-msg-008", kind=Relation.COUNTERS),)})
    broken = record.model_copy(update={"rounds": (first.model_copy(update={"messages": tuple(messages)}),)})
    records = kept(tmp_path, broken)
    with pytest.raises(LedgerError, match=r"rounds is of no discussion.*r1-msg-004: `r1-msg-008` is no message that"):
        record_of(records, record.discussion.id)
