"""Facade of critiques: start, resume, list and read them.

outcome = await Swarm(path).council.critique("Write the release notes of 2.0", iterations=4)
"""

# ruff: noqa: PLC0415 - late, for start-up time: to list and to look needs neither participants nor models

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from swarmgate.council.critique.model import Critique, CritiqueOutcome, CritiqueRecord, CritiqueSummary
from swarmgate.council.critique.rules import RULES
from swarmgate.council.critique.scoring import learnt_weights
from swarmgate.council.shared import Shared, new_id
from swarmgate.domain.usage import Allowance
from swarmgate.errors import ConfigError, SwarmError

if TYPE_CHECKING:
    from swarmgate.council.critique.program_checks import Programs
    from swarmgate.council.critique.request import Given
    from swarmgate.council.pattern import Where
    from swarmgate.council.views.events import CouncilEvent
    from swarmgate.domain.review.votes import Seat

    OnEvent = Callable[[CouncilEvent], None]


class Critiques:
    """Critiques of one project.

    Args:
        shared: what all patterns share.
        programs: gives the commands and gates that judge.
    """

    def __init__(self, shared: Shared, programs: Callable[[], Programs]) -> None:
        self._shared, self._project, self._programs = shared, shared.project, programs

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
        default_id: str = "",
        tokens: int | None = None,
        usd: float | None = None,
        timeout_s: float | None = None,
        whole_s: float | None = None,
        system: str = "",
        evaluator_system: str = "",
        on_event: OnEvent | None = None,
        where: Where = lambda _: "",
    ) -> CritiqueOutcome:
        """Has a participant make a version and another judge it until it is good enough; returns the best version.

        Args:
            task: what is made, 1 to 100,000 characters.
            criteria: 1 to 10, each a `Criterion`, its fields, or `NAME[:WEIGHT[:THRESHOLD]]=DESCRIPTION`; None:
                correctness, completeness and clarity.
            name: shared by runs of the same kind.
            draft: a first version; empty: one is made.
            target: the path at which commands and gates see a version, in a copy of the work tree.
            iterations: the most, 1 to 10; None: `[council.critique] iterations`.
            stop: the weighted mean that is good enough, 0 to 1; None: `[council.critique] stop`.
            adaptive: whether the weights are learnt from past runs of the same name.
            model: `provider/model` of who makes the versions, an agent of the settings, or a role; empty: that of
                participants.
            evaluator: the same of who judges; empty: the same model.
            material: what the task is about.
            files: paths whose text is added to the material.
            diff: a revision; what the work tree changes against it is added to the material.
            cache: whether a request that was answered before is answered from its record; None: `[council] cache`.
            id: its name, and no other record answers; empty: `default_id`.
            default_id: its name where no record answers; empty: the time and four letters.
            tokens: what all of it may use, in tokens; None: `[council] total_tokens`.
            usd: the same in US dollars; None: `[council] usd`.
            timeout_s: the longest time of one participant in one step, 1 to 900; None: `[council] timeout_s`.
            whole_s: the longest time of all of it in one session, 1 to 1,800; None: `[council] whole_s`.
            system: further words for who makes the versions, behind those of its agent.
            evaluator_system: the same for who judges.
            on_event: told of everything that happens.
            where: how messages about an argument begin.

        Raises:
            CouncilRefused: it cannot be held as asked; the message names the parameter and its limit.
            UnsafePath: `target` is no path in the repository.
            ConfigError, MissingRequirement: a participant has no model or no key, or there is no sandbox for a command.
            CouncilFailed: no version was made, or none could be judged.
            BudgetExhausted: a budget is used up; `resume_critique` goes on.
        """
        from swarmgate.council.critique.request import critique_of, target_in
        from swarmgate.council.critique.steps import CRITIQUE
        from swarmgate.council.participants.material import gathered
        from swarmgate.council.requests.seats import voice_of

        def speaking(key: str, word: str) -> Seat:
            return voice_of(word, self._project, lambda _: where((key,)) or f"`{key}`: ")

        author, judge = speaking("model", model), speaking("evaluator", evaluator)
        settings, root = self._project.config.council, self._project.folder.root
        name_of_record = id or default_id or new_id()
        self._shared.records.check_id(name_of_record, RULES.name)
        asked = critique_of(
            id=name_of_record,
            name=name,
            task=task,
            material=gathered(root, material, files=files, diff=diff, where=where),
            draft=draft,
            target=target_in(root, target) if target else "",
            criteria=criteria,
            threshold=settings.critique.threshold,
            gates=self._programs().gates(self._project),
            iterations=settings.critique.iterations if iterations is None else iterations,
            stop=settings.critique.stop if stop is None else stop,
            adaptive=adaptive,
            model=author.model,
            system=_both(author.system, system),
            folder=author.folder,
            evaluator_model=judge.model,
            evaluator_system=_both(judge.system, evaluator_system),
            evaluator_folder=judge.folder,
            tokens=settings.tokens,
            timeout_s=settings.timeout_s if timeout_s is None else timeout_s,
            whole_s=settings.whole_s if whole_s is None else whole_s,
            where=where,
        )
        asked, models = self._adapted(asked) if adaptive else asked, self._models(asked, where)
        known = None if id else self._shared.cached(CRITIQUE, asked, models, cache=cache)
        if known and known.outcome:
            self._project.notice(
                f"answered from the record of {known.id}: nothing has changed since; --no-cache asks anew"
            )
            return known.outcome
        allowance = self._shared.allowance.but(usd=usd, tokens=tokens)
        return await self._held(asked, models, allowance, on_event)

    async def critique_file(self, path: Path, **options: Any) -> CritiqueOutcome:
        """The same for a TOML file; `options` are arguments of `critique` that win over the file.

        Raises:
            CouncilRefused: the file cannot be read, or a key is wrong; the message names file, line and key.
            SwarmError: as `critique`.
        """
        from swarmgate.council.critique import file

        in_file = file.FILE.places(path)
        given = file.read(path) | options
        return await self.critique(**given, where=lambda place: "" if place[0] in options else in_file(place))

    async def resume_critique(
        self,
        id: str,  # noqa: A002 - the field's name
        *,
        tokens: int | None = None,
        usd: float | None = None,
        on_event: OnEvent | None = None,
    ) -> CritiqueOutcome:
        """Resumes a critique after its last complete iteration, in a new session where its time was over.

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
        record = self._shared.record(RULES, id)
        if record.standing.over and record.outcome:
            return record.outcome
        allowance = record.standing.allowance.but(usd=usd, tokens=tokens)
        return await self._held(record.request, self._models(record.request), allowance, on_event)

    def critiques(self, *, parts: bool = False) -> tuple[CritiqueSummary, ...]:
        """Every critique, the newest first; `parts`: those that were held as a part of another record, too."""
        return tuple(self._shared.rows(RULES, parts=parts))

    def critique_record(self, id: str) -> CritiqueRecord:  # noqa: A002 - the field's name
        """All that is kept of a critique, checked.

        Raises:
            CouncilRefused: there is no such critique.
            LedgerError: its record is damaged, or was changed by hand; the message names what.
        """
        return RULES.record(self._shared.record(RULES, id).standing)

    def answers(self, id: str) -> bool:  # noqa: A002 - the field's name
        """Whether it answers the same request again, as the project is now.

        Raises:
            SwarmError: as `critique_record`.
        """
        return self._shared.answers(RULES, id, self._models)

    # --- inside ---

    async def _held(
        self, critique: Critique, models: dict[str, str], allowance: Allowance, on_event: OnEvent | None
    ) -> CritiqueOutcome:
        from swarmgate.council.critique.steps import CRITIQUE, Work

        checked = any(each.programmatic for each in critique.criteria)
        work = Work(critique, self._programs().of(self._project, critique) if checked else None)
        await self._shared.hold(CRITIQUE, critique, allowance=allowance, models=models, own=work, on_event=on_event)
        return work.outcome(self._shared.record(CRITIQUE, critique.id).standing)

    def _adapted(self, critique: Critique) -> Critique:
        """The critique with weights that are learnt from past runs of its name; the user is told which."""
        ids = self._shared.records.ids(RULES.name)
        learnt = learnt_weights(critique.criteria, [past for each in ids if (past := self._past(each, critique.name))])
        changes = ", ".join(
            f"{name} {weight:.2f} -> {learnt.after[name]:.2f}" for name, weight in learnt.before.items()
        )
        runs = "1 past run" if learnt.runs == 1 else f"{learnt.runs} past runs"
        message = f"weights learnt from {runs} of {critique.name}: {changes}"
        self._project.notice(message if learnt.runs else f"no past runs of {critique.name}: the weights are as given")
        criteria = tuple(each.model_copy(update={"weight": learnt.after[each.name]}) for each in critique.criteria)
        update = {"criteria": criteria, "given_weights": learnt.before, "learnt_from": learnt.runs}
        return critique.model_copy(update=update)

    def _past(self, id: str, name: str) -> CritiqueRecord | None:  # noqa: A002 - the field's name
        """A finished run of that name; None: it is none, or it cannot be read."""
        with suppress(SwarmError):
            if self._shared.records.begun(id).request.get("name") == name:
                record = self.critique_record(id)
                return record if record.status == "complete" else None
        return None

    def _models(self, critique: Critique, where: Where = lambda _: "") -> dict[str, str]:
        """The models of author and evaluator, as they stand after all settings.

        Raises:
            ConfigError: one has none.
        """
        from swarmgate.agents.context_factory import PARTICIPANT, seat_config
        from swarmgate.domain.review.votes import Seat

        own = {"author": critique.model, "evaluator": critique.evaluator_model or critique.model}
        found: dict[str, str] = {}
        for name, model in own.items():
            key = "evaluator" if name == "evaluator" and critique.evaluator_model else "model"
            try:
                seat = seat_config(self._project.config, Seat(id=name, model=model))
                found[name] = seat.role(PARTICIPANT).model
            except ConfigError as error:
                what = f"`{key}`: " if model else ""
                raise ConfigError(f"{where((key,))}{what}{error.message}", hint=error.hint) from error
        return found


def _both(own: str, more: str) -> str:
    """Two system texts as one."""
    return "\n\n".join(filter(None, (own, more)))
