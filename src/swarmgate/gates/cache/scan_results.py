"""Looks up and stores the scan results of gates, so that an unchanged file is not scanned again.

An answer from here is the scanner's own outcome, before it is judged: severities that block, accepted findings and caps
apply to it as they are now. The entry's key holds everything that the outcome depends on, so there is nothing to
invalidate. What is not certain to depend on that alone is never kept: errors, timeouts, missing tools, builds (they
keep warm caches of their own), and a project's commands unless their definition says `cache = true`.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Any

from swarmgate.gates.cache import environment
from swarmgate.gates.cache.store import Cache, key_of
from swarmgate.gates.outcome import Outcome
from swarmgate.gates.secret_scan import redaction

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Container, Mapping, Sequence

    from swarmgate.domain.review.change import ChangeSet
    from swarmgate.domain.review.finding import Finding
    from swarmgate.gates.source.file import SourceFile
    from swarmgate.workspace.git.repository import Repository

    Findings = Mapping[str, Sequence[Finding]]
    """Path -> what was found there."""


class Memory:
    """Stores and looks up the scan results of gates, for one run.

    `complete` tells after a run whether every outcome came from here or was kept: the whole run could be repeated from
    memory. `surroundings` is the hash of what the outcomes depend on beside the change, taken before any gate ran.
    """

    def __init__(self, cache: Cache | None = None) -> None:
        self._cache = cache or Cache()
        self.surroundings = ""
        self.complete = True

    def enter(self, repository: Repository, change: ChangeSet) -> None:
        """Set what all cache keys of a run over this change share."""
        found = environment.digest(repository.root, change.paths)
        self.complete = self.complete and self.surroundings in {"", found}
        self.surroundings = found

    def recall(self, question: str) -> Outcome | None:
        """The stored outcome for this key."""
        value = self._cache.get(question) if question else None
        return None if value is None else _outcome(value)

    async def of_files(
        self,
        kind: Callable[[SourceFile], str],
        sources: Sequence[SourceFile],
        scan: Callable[[Sequence[SourceFile]], Awaitable[tuple[Findings, Container[str]]]],
    ) -> Findings:
        """The findings of independent files: stored ones are reused, the other files are scanned.

        Args:
            kind: names who looks at a file, and for what.
            sources: the files; of these, path, language, traits and content count.
            scan: asked for those that nothing is kept of; says what it found, and of which paths that may not be kept.
        """
        keys = {source.path: self._key_of_file(kind(source), source) for source in sources}
        found: dict[str, Sequence[Finding]] = {}
        for path, key in keys.items():
            value = self._cache.get(key)
            outcome = _outcome(value) if value is not None else None
            if outcome is not None:
                found[path] = outcome.findings
        unknown = [source for source in sources if source.path not in found]
        results, doubtful = await scan(unknown) if unknown else ({}, ())
        for source in unknown:
            outcome = Outcome(tuple(results.get(source.path, ())))
            # A message that is masked in the cache would be another one when it is compared.
            if source.path not in doubtful and redaction.outcome(outcome) is outcome:
                self._cache.put(keys[source.path], _plain(outcome))
        return {**found, **results}

    def of_pair(self, kind: str, pair: SourceFile, judge: Callable[[SourceFile], Sequence[Finding] | str]) -> Any:
        """The findings of one file compared with its base: stored, or computed now.

        Args:
            kind: names who judges; what it says depends on the file alone.
            pair: the file.
            judge: asked where nothing is kept; says why it cannot look at such a file, which is not kept.
        """
        key = key_of((self._key_of_file(kind, pair), sorted(pair.added_lines), pair.base_path, pair.was.content))
        value = self._cache.get(key)
        stored = _outcome(value) if value is not None else None
        if stored is not None:
            return stored.findings
        result = judge(pair)
        if not isinstance(result, str):
            self._cache.put(key, _plain(Outcome(tuple(result))))
        return result

    async def of_question(self, *parts: object, answer: Callable[[], Awaitable[bool | None]]) -> bool | None:
        """A yes-or-no answer that depends on these parts alone: stored, or computed now.

        Args:
            parts: what is asked, and all that it hangs on.
            answer: asked where nothing is kept; what it does not know (None) is not kept.
        """
        key = key_of((self.surroundings, "question", *parts))
        value = self._cache.get(key)
        if isinstance(value, bool):
            return value
        outcome = await answer()
        if outcome is not None:
            self._cache.put(key, outcome)
        return outcome

    def _key_of_file(self, kind: str, source: SourceFile) -> str:
        traits = sorted(source.traits)
        return key_of((self.surroundings, "file", kind, source.path, source.language, traits, source.content))

    def keep(self, question: str, outcome: Outcome) -> None:
        """Store an outcome, where a repeated scan would certainly give the same."""
        if question and not (outcome.error or outcome.missing or outcome.volatile):
            self._cache.put(question, _plain(outcome))
        else:
            self.complete = False


def _plain(outcome: Outcome) -> dict[str, Any]:
    redacted = redaction.outcome(outcome)
    values = {field.name: getattr(redacted, field.name) for field in fields(Outcome)}
    findings = [each.model_dump(mode="json", exclude_defaults=True) for each in redacted.findings]
    return {**values, "findings": findings, "unchecked": [each.model_dump() for each in redacted.unchecked]}


def _outcome(value: dict[str, Any]) -> Outcome | None:
    from swarmgate.domain.review.finding import Finding, Unchecked  # noqa: PLC0415 - late: most answers hold none

    try:
        findings = tuple(Finding.model_validate(each) for each in value.pop("findings"))
        unchecked = tuple(Unchecked.model_validate(each) for each in value.pop("unchecked"))
        lists = {name: tuple(each) for name, each in value.items() if isinstance(each, list)}
        outcome = Outcome(**{**value, **lists}, findings=findings, unchecked=unchecked)
        like = all(type(getattr(outcome, each.name)) is type(each.default) for each in fields(Outcome))
        return outcome if like and all(isinstance(note, str) for note in outcome.notes) else None
    except (TypeError, ValueError, KeyError, AttributeError):
        return None  # another program's file with a right checksum: not ours
