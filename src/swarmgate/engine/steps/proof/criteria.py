"""Checks that every acceptance criterion is mapped to tests that exist and ran."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from swarmgate.domain.base import Frozen
from swarmgate.domain.review.evidence import Review, TestRun
from swarmgate.workspace.test_runs.named_tests import Fate, fate, has_run, names_a_file_only

_LENGTH = 100


class Mapped(Frozen):
    """Renders the map from criteria to tests as lines for people.

    `false` are named tests that are not there or did not run, `unmapped` criteria without a test, `unseen` named tests
    that are defined, and of which the runner does not say whether they ran. `vague` says who names a whole file.
    """

    false: tuple[str, ...] = ()
    unmapped: tuple[str, ...] = ()
    unseen: tuple[str, ...] = ()
    vague: tuple[str, ...] = ()


def mapped(review: Review, ran: TestRun, files: Callable[[], Mapping[str, str]]) -> Mapped:
    """Compares the tests that a verdict names with those that ran.

    Args:
        review: the test engineer's verdict.
        ran: swarmgate's own run of the whole suite.
        files: gives the texts of the test files by path; asked only where the runner's report does not say it all.
    """
    texts: Mapping[str, str] | None = None
    false, unseen, unmapped, vague = [], [], [], []
    for number, criterion in enumerate(review.criteria, 1):
        if not criterion.tests:
            unmapped.append(f"criterion {number} has no test: {criterion.criterion[:_LENGTH]}")
        for name in criterion.tests:
            if names_a_file_only(name):
                vague.append(f"criterion {number} names {name[:_LENGTH]}: any test there would do, so it shows little")
            if has_run(name, ran.names):
                continue
            texts = files() if texts is None else texts
            found = fate(name, ran=ran.names, skipped=ran.skips, files=texts)
            if found is Fate.EXISTS:
                unseen.append(name)
            elif found is not Fate.RAN:
                false.append(f"criterion {number} names {name[:_LENGTH]}, which {found}")
    return Mapped(false=tuple(false), unmapped=tuple(unmapped), unseen=tuple(dict.fromkeys(unseen)), vague=tuple(vague))
