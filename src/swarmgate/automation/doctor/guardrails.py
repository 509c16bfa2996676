"""The doctor's check that lists guardrails which are switched off, with what each omission costs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from swarmgate.automation.doctor.problem import Problem
from swarmgate.automation.setting_locations import Places
from swarmgate.config import Bounds, Config
from swarmgate.gates.definition import GateDefinition

NAME = "guardrails"

_COSTS = {
    "diff": "broken public contracts, odd modes, links and big binaries pass",
    "imports": "imports of packages that do not exist pass",
    "syntax_check": "files that do not parse pass",
    "lint_check": "what linters find passes",
    "lint_fix": "nothing is formatted; reviewers read noise",
    "placeholder_scan": "stubs and elided code pass as done",
    "test_integrity": "tests may be skipped, emptied or deleted unseen until a run misses them",
    "quality_budget": "complexity, copies and suppressions grow unseen",
    "sast_scan": "weaknesses that an attacker can use pass",
    "secret_scan": "keys and passwords are committed",
    "sbom_generate": "new components come in unseen",
    "build_check": "what does not build or type-check passes",
}
_WIDE = {"*", "**", "**/*", "*/**", "./**", "src/**", "/"}
_AS_GOOD_AS_OFF = 10
"""A bound of a turn of more than so many times its default stops nothing."""


def inspect(config: Config, places: Places, gates: Sequence[GateDefinition]) -> tuple[Problem, ...]:
    """Every guardrail that the settings or the project's gates switch off."""
    known = {each.id for each in gates}
    found = (*_gates(config, known), *_rules(config), *_authority(config), *_breakers(config))
    off = (each for each in gates if not each.enabled and each.id in _COSTS and each.id not in config.gates.skip)
    return (
        *(Problem(NAME, message, *places.of(*path)) for path, message in found),
        *(Problem(NAME, f"is off: {_COSTS[each.id]}", f".swarm/gates/{each.id}.toml") for each in off),
    )


_Found = tuple[tuple[str, ...], str]


def _gates(config: Config, known: set[str]) -> Iterator[_Found]:
    for name in (each for each in config.gates.skip if each in known):
        yield ("gates", "skip"), f"the gate {name} is skipped: {_COSTS.get(name, 'what it looks for passes')}"


def _rules(config: Config) -> Iterator[_Found]:
    tests, review, commands = config.tests, config.review, config.commands
    off: tuple[tuple[bool, tuple[str, ...], str], ...] = (
        (tests.must_fail != "block", ("tests", "must_fail"), "tests that prove nothing count as tests"),
        (tests.vanished != "block", ("tests", "vanished"), "tests may be deleted or skipped to get a green run"),
        (tests.unproven != "block", ("tests", "unproven"), "behaviour that no test shows may be committed"),
        (tests.altered != "block", ("tests", "altered"), "old tests may be emptied to get a green run"),
        (not review.tests, ("review", "tests"), "nobody but the test engineer itself sees the tests that it writes"),
        (tests.adversarial == "off", ("tests", "adversarial"), "nobody attacks the change, security-sensitive or not"),
        (review.security == "off", ("review", "security"), "no change gets a security review, however sensitive"),
        (not review.cite, ("review", "cite"), "findings that quote nothing count: invented ones reject good work"),
        ("plan" in config.approve.auto, ("approve", "auto"), "work begins on plans that nobody but the critic read"),
        ("phase" in config.approve.auto, ("approve", "auto"), "phases go on though nobody looked at what was built"),
        (config.scope.enforce == "off", ("scope", "enforce"), "a task may change any number of files unseen"),
        (commands.sandbox == "none", ("commands", "sandbox"), "commands of agents run with all your rights"),
        (commands.network, ("commands", "network"), "commands of agents can send away what they can read"),
        (bool(commands.allow), ("commands", "allow"), "these command lines pass whatever the policy says"),
        (bool(config.gates.quality.model_fields_set) and _unlimited(config), ("gates", "quality"),
         "every limit is off: the gate quality_budget judges nothing"),
    )  # fmt: skip
    for is_off, path, cost in off:
        if is_off:
            yield path, f"`{'.'.join(path)}` lets down a guard: {cost}"


def _unlimited(config: Config) -> bool:
    return all(value is None for value in config.gates.quality.model_dump().values())


def _authority(config: Config) -> Iterator[_Found]:
    for role, authority in config.authority.items():
        for glob in authority.allow:
            if glob in _WIDE and not (role == "coder" and glob == "src/**"):
                yield ("authority", role, "allow"), f'{role} may write "{glob}": nearly everything'


def _breakers(config: Config) -> Iterator[_Found]:
    every: tuple[tuple[tuple[str, ...], Bounds], ...] = (
        (("breakers",), config.breakers),
        *((("breakers", "roles", role), bounds) for role, bounds in config.breakers.roles.items()),
    )
    for path, bounds in every:
        for key in sorted(bounds.model_fields_set & Bounds.model_fields.keys() - {"tokens"}):
            usual = Bounds.model_fields[key].default
            if getattr(bounds, key) > _AS_GOOD_AS_OFF * usual:
                yield (
                    (*path, key),
                    f"{key} = {getattr(bounds, key):g} is as good as none (usual: {usual:g}): turns may go in circles",
                )
