"""Tables of opposite words, and of the words that negate a sentence."""

from __future__ import annotations

from dataclasses import dataclass

from swarmgate.automation.drift.tokens import word_set


@dataclass(frozen=True, slots=True)
class Opposites:
    """One pair; each side in all its spellings, `_` for a blank.

    `predicative`: the word counts only where it is said of the subject (`profiles are private`), not as a mere
    attribute (`a public page`). `of`: words for what the pair itself is about, which make no subject.
    `beside`: the words count only where one of these stands in the same part of the sentence.
    """

    name: str
    one: str
    other: str
    predicative: bool = False
    of: str = ""
    nearby: str = ""


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
    Opposites(
        "UTC or local time",
        "utc",
        "local_time local_times local_timezone local_time_zone",
        of="timestamp timestamps date dates datetime zone",
    ),
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
    Opposites("the same or another each time", "same", "new different another", nearby="always time"),
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

PRESENT = word_set("still currently legacy existing old former formerly previous previously remaining already")
"""A sentence with one of these speaks about how things are or were, or about a time before the rule holds."""

NARROWS = word_set(
    "javascript typescript python java kotlin swift ios android windows macos linux staging sandbox beta pilot alpha "
    "canary preview third-party third partner partners supplier suppliers vendor vendors external bank draft drafts "
    "demo experiment trial"
)
"""What holds for one of these holds there only: a language, a platform, an environment, somebody else's system."""

APART: tuple[frozenset[str], ...] = tuple(
    word_set(group)
    for group in (
        "production prod development dev local locally test tests testing",
        "frontend browser client ui mobile desktop cli backend server",
        "admin admins administrator administrators user users customer customers guest guests staff employees services",
        "access refresh reset invitation",
        "read reads reading write writes writing",
    )
)
"""Words that part a whole: where two sentences name different ones of a group, they hold for different things."""

ONCE = word_set("once after when since")
BEFORE = word_set("until before while")
"""Two sentences hold for different times where one says from when and the other until when."""

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
    word_set("write writes written export exports return returns emit emits produce produces"),
    word_set("read reads parse parses import imports accept accepts receive receives load loads"),
    frozenset({"show", "shows", "shown", "display", "displays", "displayed", "render", "present", "format", "print"}),
)
"""Acts that are different things to do to the same subject."""

STORING = CONTRASTS[0] | word_set("storing saving keep kept write writes written record recorded")
"""Acts that put something on record."""

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
