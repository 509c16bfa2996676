"""Pairs of opposites, and the words that turn a sentence. Words of data, no logic."""

from __future__ import annotations

from dataclasses import dataclass

from swarmgate.automation.drift.words import word_set


@dataclass(frozen=True, slots=True)
class Opposites:
    """One pair; each side in all its spellings, `_` for a blank.

    `predicative`: the word counts only where it is said of the subject (`profiles are private`), not as a mere
    attribute (`a public page`).
    """

    name: str
    one: str
    other: str
    predicative: bool = False


OPPOSITES: tuple[Opposites, ...] = (
    Opposites("synchronous or asynchronous", "synchronous synchronously sync", "asynchronous asynchronously async"),
    Opposites(
        "soft or hard delete",
        "soft_delete soft_deleted soft_deletes soft_deletion",
        "hard_delete hard_deleted hard_deletes hard_deletion",
    ),
    Opposites("public or private", "public publicly", "private privately", predicative=True),
    Opposites("optional or required", "optional optionally", "required mandatory compulsory", predicative=True),
    Opposites("mutable or immutable", "mutable", "immutable"),
    Opposites("UTC or local time", "utc", "local_time local_timezone local_time_zone"),
    Opposites("case-sensitive or not", "case_sensitive case_sensitively", "case_insensitive case_insensitively"),
    Opposites(
        "fail open or fail closed", "fail_open fails_open failing_open", "fail_closed fails_closed failing_closed"
    ),
    Opposites("opt-in or opt-out", "opt_in", "opt_out"),
    Opposites("stateless or stateful", "stateless", "stateful"),
    Opposites("eager or lazy", "eager eagerly", "lazy lazily"),
    Opposites("strict or lenient", "strict strictly", "lenient leniently", predicative=True),
    Opposites("optimistic or pessimistic", "optimistic", "pessimistic"),
    Opposites("push or pull", "push_based", "pull_based"),
    Opposites("blocking or not", "blocking", "non_blocking nonblocking"),
    Opposites("signed or unsigned", "signed", "unsigned", predicative=True),
    Opposites("encrypted or plain", "encrypted", "unencrypted plaintext plain_text", predicative=True),
    Opposites(
        "enabled or disabled",
        "enabled switched_on turned_on on_by_default",
        "disabled switched_off turned_off off_by_default",
        predicative=True,
    ),
    Opposites(
        "client or server rendering", "client_side_rendering client_rendered", "server_side_rendering server_rendered"
    ),
    Opposites(
        "strong or eventual consistency",
        "strong_consistency strongly_consistent",
        "eventual_consistency eventually_consistent",
    ),
    Opposites("single or multi tenant", "single_tenant", "multi_tenant multitenant"),
    Opposites("single or multi threaded", "single_threaded", "multi_threaded multithreaded"),
    Opposites(
        "allow or deny by default",
        "allow_by_default allowed_by_default default_allow",
        "deny_by_default denied_by_default default_deny",
    ),
    Opposites(
        "vertical or horizontal scaling", "vertical_scaling scale_vertically", "horizontal_scaling scale_horizontally"
    ),
    Opposites("ascending or descending", "ascending oldest_first", "descending newest_first"),
    Opposites("at most or at least once", "at_most_once", "at_least_once"),
    Opposites(
        "backward compatible or breaking",
        "backward_compatible backwards_compatible",
        "breaking_change breaking_changes",
    ),
)

NEGATORS = frozenset(
    {
        "not",
        "no",
        "never",
        "without",
        "avoid",
        "avoids",
        "forbid",
        "forbids",
        "forbidden",
        "cannot",
        "ban",
        "banned",
        "neither",
        "nor",
    }
)
"""Words that deny what follows."""

REMOVERS = word_set(
    "remove removes removed removing drop drops dropped delete deprecate deprecated reject rejected rejects eliminate "
    "replace replaces replaced replacing uninstall discard abandon refuse refused retire stop"
)
"""Verbs whose object goes away."""

CONDITIONS = word_set(
    "unless except only until before if when whenever other directly longer more less later earlier fewer necessarily "
    "just yet necessary needed beyond outside"
)
"""Words that make a denial hold in some cases only, or of a quantity: nothing is concluded from it."""

ASIDE = word_set(
    "compare compares compared comparison comparing versus vs evaluate evaluated evaluation benchmark document "
    "documents documented documentation docs explain explains example examples alternative alternatives "
    "considered looked legacy "
    "old migrate migrates migrated migrating migration rehash convert converts converted import imports imported "
    "importing compatibility compatible mention discuss suitable registry deprecates unlike consume consumes "
    "third-party upstream"
)
"""A sentence with one of these speaks about something, and need not choose it."""

TESTING = word_set(
    "test tests tested testing fixture fixtures mock mocks mocked stub fake ci locally development dev prototype spike "
    "demo"
)
"""What is done in tests, or locally, is no choice for the product."""

INTRODUCERS = word_set(
    "use uses using used add adds adding introduce introduces install installs adopt adopts switch put puts set write "
    "writes create creates build builds implement implements store stores expose exposes enable enables log logs call "
    "calls send sends allow allows go goes go through via keep keeps read reads return returns include includes make "
    "makes render renders hash cache publish depend depends import"
)
"""Verbs that bring something in."""

CONTRASTS: tuple[frozenset[str], ...] = (
    frozenset({"store", "stored", "stores", "save", "saved", "persist", "persisted"}),
    frozenset({"show", "shows", "shown", "display", "displays", "displayed", "render", "present", "format", "print"}),
)
"""Acts that are different things to do to the same subject."""

CLOSING = (
    "instead of",
    "replaces",
    "replace",
    "replaced",
    "no longer",
    "supersedes",
    "superseding",
    "reverses",
    "in place of",
    "rather than",
    "overrides",
    "revokes",
    "withdraws",
    "abandon",
)
"""Phrases with which a later decision says that it takes the place of an earlier one."""
