"""The facade of the council: critiques.

outcome = await Swarm(path).council.critique("Write the release notes of 2.0", iterations=4)
"""

# ruff: noqa: PLC0415 - late, for start-up time: to list and to look needs neither voices nor models

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from swarmgate.domain.base import Frozen
from swarmgate.domain.critique import Critique, CritiqueOutcome, CritiqueRecord, Iteration
from swarmgate.domain.critique_rules import learnt_weights
from swarmgate.domain.usage import Allowance
from swarmgate.engine.in_project import InProject, new_id
from swarmgate.errors import ConfigError, CouncilFailed, CouncilRefused, SwarmError

if TYPE_CHECKING:
    from swarmgate.council.critique.requests import Given, Where
    from swarmgate.council.records import Manifest
    from swarmgate.council.stream import PatternEvent

    OnEvent = Callable[[PatternEvent], None]

PATTERN: Final = "critique"


class CritiqueSummary(Frozen):
    """One critique of the list.

    `status` is open, paused, failed, passed, not passed or damaged; then `task` says what is. `began` is in UTC, as
    ISO 8601 has it.
    """

    id: str
    began: str
    status: str
    task: str
    name: str = ""


class Critiques:
    """Critiques of one project."""

    def __init__(self, shared: InProject) -> None:
        self._shared, self._project = shared, shared.project

    async def critique(
        self,
        task: str,
        *,
        criteria: Sequence[Given] | None = None,
        name: str = "",
        draft: str = "",
        target: str = "",
        iterations: int | None = None,
        stop: float | None = None,
        adaptive: bool = False,
        model: str = "",
        evaluator: str = "",
        material: str = "",
        files: Sequence[str] = (),
        diff: str = "",
        cache: bool | None = None,
        id: str = "",  # noqa: A002 - the field's name
        minted: str = "",
        tokens: int | None = None,
        usd: float | None = None,
        timeout_s: float | None = None,
        on_event: OnEvent | None = None,
        where: Where = lambda _: "",
    ) -> CritiqueOutcome:
        """Has a voice make a version, another judge it, and improves it until it is good enough; gives the best one.

        Args:
            task: what is made, 1 to 4,000 characters.
            criteria: 1 to 10, each a `Criterion`, its fields, or `NAME[:WEIGHT[:THRESHOLD]]=DESCRIPTION`; None:
                correctness, completeness and clarity.
            name: shared by runs of the same kind.
            draft: a first version; empty: one is made.
            target: the path at which commands and gates see a version, in a copy of the work tree.
            iterations: the most, 1 to 10; None: `[council.critique] iterations`.
            stop: the weighted mean that is good enough, 0 to 1; None: `[council.critique] stop`.
            adaptive: whether the weights are learnt from past runs of the same name.
            model: `provider/model` of who makes the versions; empty: that of participants.
            evaluator: `provider/model` of who judges; empty: the same model.
            material: what the task is about.
            files: paths whose text is added to the material.
            diff: a revision; what the work tree changes against it is added to the material.
            cache: whether a request that was answered before is answered from its record; None: `[council] cache`.
            id: its name, and no other record answers; empty: `minted`.
            minted: its name where no record answers; empty: the time and four letters.
            tokens: what all of it may use, in tokens; None: `[council] total_tokens`.
            usd: the same in US dollars; None: `[council] usd`.
            timeout_s: the longest time of one voice in one step, 1 to 900; None: `[council] timeout_s`.
            on_event: told of everything that happens.
            where: how messages about an argument begin.

        Raises:
            CouncilRefused: it cannot be held as asked; the message names the parameter and its limit.
            UnsafePath: `target` is no path in the repository.
            ConfigError, MissingRequirement: a voice has no model or no key, or there is no sandbox for a command.
            CouncilFailed: no version was made, or none could be judged.
            BudgetExhausted: a budget is used up; `resume_critique` goes on.
        """
        from swarmgate.council.critique.requests import critique_of
        from swarmgate.council.material import gathered
        from swarmgate.engine.checks import target_in
        from swarmgate.gates.definition import Stage, load

        settings, root = self._project.config.council, self._project.folder.root
        name_of_record = id or minted or new_id()
        self._shared.records.check_id(name_of_record, PATTERN)
        asked = critique_of(
            id=name_of_record,
            name=name,
            task=task,
            material=gathered(root, material, files=files, diff=diff, where=where),
            draft=draft,
            target=target_in(root, target) if target else "",
            criteria=criteria,
            threshold=settings.critique.threshold,
            gates=[each.id for each in load(root) if each.stage is Stage.CHECK],
            iterations=settings.critique.iterations if iterations is None else iterations,
            stop=settings.critique.stop if stop is None else stop,
            adaptive=adaptive,
            model=model,
            evaluator_model=evaluator,
            tokens=settings.tokens,
            timeout_s=settings.timeout_s if timeout_s is None else timeout_s,
            whole_s=settings.whole_s,
            where=where,
        )
        asked = self._critique_adapted(asked) if adaptive else asked
        request_hash = self._critique_hash(asked, where)
        known = "" if id else self._shared.cached(PATTERN, request_hash, cache=cache)
        if known and (outcome := self.critique_record(known).outcome):
            self._critique_notice(
                f"answered from the record of {known}: nothing has changed since; --no-cache asks anew"
            )
            return outcome
        allowance = self._shared.allowance.but(usd=usd, tokens=tokens)
        return await self._critique_improved(asked, allowance, on_event, request_hash=request_hash)

    async def critique_file(self, path: Path, **options: Any) -> CritiqueOutcome:
        """The same for a TOML file; `options` are arguments of `critique` that win over the file.

        Raises:
            CouncilRefused: the file cannot be read, or a key is wrong; the message names file, line and key.
            SwarmError: as `critique`.
        """
        from swarmgate.engine import critique_file

        in_file = critique_file.places(path)
        given = critique_file.read(path) | options
        return await self.critique(**given, where=lambda place: "" if place[0] in options else in_file(place))

    async def resume_critique(
        self,
        id: str,  # noqa: A002 - as above
        *,
        tokens: int | None = None,
        usd: float | None = None,
        on_event: OnEvent | None = None,
    ) -> CritiqueOutcome:
        """Goes on with a critique after its last whole iteration, with a new sitting where its time was over.

        One that is over gives its outcome at once. Where the project has changed since it began, the record answers no
        other request: it was made of both.

        Args:
            id: of the critique.
            tokens: what all of it may use, in tokens, with what it used before; None: as it was begun with.
            usd: the same in US dollars.
            on_event: told of everything that happens.

        Raises:
            CouncilRefused: there is no such critique, or it goes on in another process.
            LedgerError: its record is damaged, or was changed by hand.
            SwarmError: as `critique`.
        """
        record, manifest = self.critique_record(id), self._critique_manifest(id)
        if record.outcome is not None and manifest.status == "complete":
            return record.outcome
        kept = manifest.allowance
        allowance = kept.but(usd=usd, tokens=tokens)
        if manifest.request_hash and manifest.request_hash != self._critique_hash(record.critique):
            manifest = self._shared.records.change(id, request_hash="")
        return await self._critique_improved(record.critique, allowance, on_event, request_hash=manifest.request_hash)

    def critiques(self, *, parts: bool = False) -> tuple[CritiqueSummary, ...]:
        """Every critique, the newest first; `parts`: those that were held as a part of another record, too."""
        ids = self._shared.records.ids(PATTERN)
        return tuple(self._critique_summary(each) for each in ids if parts or not self._shared.belongs(each, PATTERN))

    def critique_record(self, id: str) -> CritiqueRecord:  # noqa: A002 - as above
        """All that is kept of a critique, checked.

        Raises:
            CouncilRefused: there is no such critique.
            LedgerError: its record is damaged, or was changed by hand; the message names what.
        """
        from swarmgate.council.critique.outcome import record_of

        self._critique_manifest(id)
        return record_of(self._shared.records, id)

    # --- inside ---

    async def _critique_improved(
        self, critique: Critique, allowance: Allowance, on_event: OnEvent | None, *, request_hash: str
    ) -> CritiqueOutcome:
        from swarmgate.council.critique.briefs import prompt_tokens
        from swarmgate.council.critique.improving import improve
        from swarmgate.council.critique.iterating import author_of
        from swarmgate.council.critique.outcome import manifest_of
        from swarmgate.council.progress import teller
        from swarmgate.engine.checks import ProjectChecks

        goes_on, tell = f"swarm critique resume {critique.id}", teller(self._project.listener, on_event)
        checked = any(each.programmatic for each in critique.criteria)
        checks = ProjectChecks.of(self._project, critique) if checked else None
        begun = manifest_of(critique).model_copy(update={"request_hash": request_hash, "allowance": allowance})
        try:
            async with self._shared.sitting(PATTERN, critique.id, allowance, goes_on) as voices:
                self._shared.records.begin(begun)
                self._shared.records.change(critique.id, allowance=allowance)
                if not critique.draft and not self._shared.records.rounds(critique.id, Iteration):
                    needed = prompt_tokens(critique, author_of(critique, voices))
                    voices.budget.require_room(needed, "the first version (its prompt alone)")
                return await improve(
                    critique, voices=voices, records=self._shared.records, checks=checks, on_event=tell
                )
        except CouncilFailed as error:
            left = len(self._shared.records.rounds(critique.id, Iteration)) < critique.iterations
            way = f"It is taken up again by: {goes_on}" if left else f"All of it: swarm critique show {critique.id}"
            raise CouncilFailed(
                f"the critique {critique.id} failed: {error.message}", hint=f"{error.hint}. {way}"
            ) from error

    def _critique_hash(self, critique: Critique, where: Where = lambda _: "") -> str:
        """What a critique is found again by: the request as it was given, and the weights that it learnt.

        From how many runs they come does not count: every run is one more, and the same weights judge the same.
        """
        given = critique.given_weights
        criteria = tuple(
            each.model_copy(update={"weight": given.get(each.name, each.weight)}) for each in critique.criteria
        )
        learnt = {each.name: each.weight for each in critique.criteria} if critique.adaptive else {}
        asked = critique.model_copy(update={"criteria": criteria, "given_weights": learnt, "learnt_from": 0})
        return self._shared.request_hash(PATTERN, asked, self._critique_models(critique, where))

    def _critique_adapted(self, critique: Critique) -> Critique:
        """The critique with weights that are learnt from past runs of its name; the user is told which."""
        past = [
            record for each in self._shared.records.ids(PATTERN) if (record := self._critique_past(each, critique.name))
        ]
        learnt = learnt_weights(critique.criteria, past)
        shown = ", ".join(f"{name} {weight:.2f} -> {learnt.after[name]:.2f}" for name, weight in learnt.before.items())
        runs = "1 past run" if learnt.runs == 1 else f"{learnt.runs} past runs"
        told = f"weights learnt from {runs} of {critique.name}: {shown}"
        self._critique_notice(told if learnt.runs else f"no past runs of {critique.name}: the weights are as given")
        criteria = tuple(each.model_copy(update={"weight": learnt.after[each.name]}) for each in critique.criteria)
        update = {"criteria": criteria, "given_weights": learnt.before, "learnt_from": learnt.runs}
        return critique.model_copy(update=update)

    def _critique_past(self, id: str, name: str) -> CritiqueRecord | None:  # noqa: A002 - as above
        """A finished run of that name; None: it is none, or it cannot be read."""
        with suppress(SwarmError):
            manifest = self._shared.records.manifest(id, PATTERN)
            if manifest.status == "complete" and manifest.request.get("name") == name:
                return self.critique_record(id)
        return None

    def _critique_models(self, critique: Critique, where: Where = lambda _: "") -> dict[str, str]:
        """The models of author and evaluator, as they stand after all settings.

        Raises:
            ConfigError: one has none.
        """
        from swarmgate.agents.contexts import PARTICIPANT, seat_config
        from swarmgate.domain.debate import Seat

        own = {"author": critique.model, "evaluator": critique.evaluator_model or critique.model}
        seats = {name: Seat(id=name, model=model) for name, model in own.items()}
        config = self._project.config
        found: dict[str, str] = {}
        for name, seat in seats.items():
            key = "evaluator" if name == "evaluator" and critique.evaluator_model else "model"
            try:
                found[name] = seat_config(config, seat).role(PARTICIPANT).model
            except ConfigError as error:
                what = f"`{key}`: " if seat.model else ""
                raise ConfigError(f"{where((key,))}{what}{error.message}", hint=error.hint) from error
        return found

    def _critique_manifest(self, id: str) -> Manifest:  # noqa: A002 - as above
        try:
            return self._shared.records.manifest(id, PATTERN)
        except CouncilRefused as error:
            raise self._shared.refused(PATTERN, id, error) from None

    def _critique_summary(self, id: str) -> CritiqueSummary:  # noqa: A002 - as above
        began = ""
        try:
            began = self._shared.records.manifest(id, PATTERN).created_at
            record = self.critique_record(id)
        except SwarmError as error:
            return CritiqueSummary(id=id, began=began, status="damaged", task=error.message)
        status = str(record.status)
        if record.outcome and status == "complete":
            status = "passed" if record.outcome.passed else "not passed"
        return CritiqueSummary(id=id, began=began, status=status, task=record.critique.task, name=record.critique.name)

    def _critique_notice(self, text: str) -> None:
        self._project.notice(text)
