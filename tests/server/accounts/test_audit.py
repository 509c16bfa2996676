from __future__ import annotations

from swarmgate.domain.text.redaction import MASK
from swarmgate.server.accounts.accounts import Accounts


def test_lines_come_in_order_a_page_at_a_time(accounts: Accounts) -> None:
    for number in range(5):
        accounts.log.add("user:ada", "login", f"a-{number}", detail="password", address="10.0.0.1", request="r1")
    first = accounts.log.page(limit=3)
    assert [each.subject for each in first] == ["a-0", "a-1", "a-2"]
    assert [each.subject for each in accounts.log.page(first[-1].seq)] == ["a-3", "a-4"]
    assert (first[0].actor, first[0].address, first[0].request) == ("user:ada", "10.0.0.1", "r1")


def test_no_secret_and_no_endless_text_gets_into_it(accounts: Accounts) -> None:
    key = accounts.keys.create(accounts.create("ada").id, "ci").secret
    accounts.log.add("server", "login_refused", f"{key} " + "x" * 10_000)
    line = accounts.log.page()[-1]
    assert key not in line.subject
    assert line.subject.startswith(MASK)
    assert len(line.subject) == 500
