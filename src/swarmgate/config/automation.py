"""The settings tables `[automation]`, `[hooks]` and `[evidence]`."""

from typing import Annotated, Literal

from pydantic import Field

from swarmgate.config.base import Seconds, Section

Mode = Literal["manual", "hybrid", "auto"]

HookName = Annotated[str, Field(pattern=r"^[a-z][a-z_]*$")]
"""The type of an event; which there are is known where hooks are made (`automation.hooks`)."""

CAPABILITIES = (
    "plan_sync",
    "phase_preflight",
    "config_doctor_on_startup",
    "config_doctor_autofix",
    "evidence_auto_summaries",
    "decision_drift_detection",
)
"""The capabilities, in the order in which they are shown."""

_ON: dict[Mode, frozenset[str]] = {
    "manual": frozenset({"plan_sync", "evidence_auto_summaries"}),
    "hybrid": frozenset(CAPABILITIES) - {"config_doctor_autofix"},
    "auto": frozenset(CAPABILITIES),
}
"""What a mode switches on where the capability's own key says nothing.

`manual` keeps files up to date, `hybrid` adds what only checks and reports.
"""


class Capabilities(Section):
    """`[automation.capabilities]`: each works alone; unset: as the mode has it."""

    plan_sync: bool | None = Field(None, description="Take hand edits of plan.md and plan.json in; on in every mode.")
    phase_preflight: bool | None = Field(
        None,
        description="Preflight at every phase boundary; a blocker stops the phase before coding. Unset: "
        "before a first phase, the test command alone is looked at; false: nothing is.",
    )
    config_doctor_on_startup: bool | None = Field(None, description="The config doctor looks when work begins.")
    config_doctor_autofix: bool | None = Field(
        None, description="That doctor mends what it can, with a backup; needs config_doctor_on_startup."
    )
    evidence_auto_summaries: bool | None = Field(
        None, description="A summary of the evidence of long tasks goes into context.md; on in every mode."
    )
    decision_drift_detection: bool | None = Field(
        None, description="A change of the plan is compared with the decisions on record."
    )


class Automation(Section):
    """`[automation]`: work in the background; it never calls a model."""

    mode: Mode = Field(
        "manual",
        description="What is on where its own key says nothing: `manual` plan_sync and evidence_auto_summaries, "
        "`hybrid` all but autofix, "
        "`auto` all.",
    )
    capabilities: Capabilities = Field(default_factory=Capabilities, description="What is switched on, one by one.")
    debounce_s: float = Field(0.3, ge=0.05, le=10, description="Quiet time after an edit before it is read.")
    poll_s: float = Field(2.0, ge=0.2, le=60, description="Time between two looks where no file events come.")
    call_s: Seconds = Field(10, description="Longest time of one call of a worker; the next ones wait meanwhile.")
    hook_s: Seconds = Field(30, description="Longest time of one hook.")
    long_attempts: int = Field(3, ge=2, le=100, description="A task is long from this attempt on.")
    long_minutes: float = Field(30, ge=1, le=10_000, description="A task is long after these minutes.")

    def on(self, capability: str) -> bool:
        """Whether a capability is on, by its own key or by the mode."""
        own: bool | None = getattr(self.capabilities, capability)
        return capability in _ON[self.mode] if own is None else own

    @property
    def looks_at_tests(self) -> bool:
        """Whether the test command is looked at before a first phase: unless preflight was switched off by its key."""
        return self.capabilities.phase_preflight is not False


class Evidence(Section):
    """`[evidence]`: what `swarm evidence prune` archives."""

    keep_days: int = Field(90, ge=0, le=36_500, description="Evidence of approved phases is kept for these days.")
    keep_mb: int = Field(500, ge=0, le=1_000_000, description="And as long as all of it is no bigger than this.")
