"""The doctor run by hand (`swarm doctor`), and the worker that runs it when work begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from swarmgate.automation.bus.trigger_events import start_up
from swarmgate.automation.bus.worker import BusEvent
from swarmgate.automation.doctor import diagnosis, suite_check
from swarmgate.automation.doctor.diagnosis import Diagnosis
from swarmgate.automation.ports import Ports
from swarmgate.config import ROLES, Config, load
from swarmgate.domain.events.automation import DoctorRan
from swarmgate.errors import SwarmError
from swarmgate.ledger.check import Check
from swarmgate.ledger.files.folder import SwarmFolder
from swarmgate.project import Project

NAME = "config_doctor"
_MOST_MESSAGES = 20
"""Problems in one event; `swarm doctor` prints all of them."""


def diagnose(
    project: Project,
    ports: Ports,
    *,
    fix: bool = False,
    tell: Callable[[str], None] | None = None,
    environ: Mapping[str, str] | None = None,
    tests: bool = True,
) -> Diagnosis:
    """Everything that the work needs.

    Args:
        project: the project.
        ports: what knows of models.
        fix: mend what can be mended, with a backup in `.swarm/quarantine/`.
        tell: told the diff before anything is written; not called where there is nothing to mend.
        environ: where keys are looked up; as it is now unless told.
        tests: ask the test command what it would run, which takes as long as that does, and endpoints for their lists
            of models; else they are named alone.

    Raises:
        UsageError: a file was changed while the doctor looked, or is a link that leads out of the repository.
        LedgerWriteFailed: a file could not be written.
    """
    known = project.environ if environ is None else environ

    asked: dict[str, Check] = {}  # mending settings of something else changes no answer of the test command

    def once(folder: SwarmFolder, config: Config) -> Check:
        key = config.tests.model_dump_json() + config.commands.model_dump_json()
        if key not in asked:
            asked[key] = suite_check.inspect(folder, config)
        return asked[key]

    lists: dict[str, Check] = {}  # nor does it change what an endpoint says

    def further(config: Config) -> Iterator[Check]:
        yield from ports.model_checks(config, known, project.folder.root)
        if tests and config.providers:
            key = repr(config.providers)
            if key not in lists:
                lists[key] = ports.model_lists(config)
            yield lists[key]

    def inspect() -> Diagnosis:
        return diagnosis.diagnose(project.folder, known, ROLES, further, once if tests else None)

    found = inspect()
    if not (fix and found.drafts):
        return found
    if tell is not None:
        tell(found.diff)
    return diagnosis.mend(project.folder, found, inspect)


def at_startup(project: Project, ports: Ports, environ: Mapping[str, str] | None = None) -> DoctorRan | None:
    """The doctor's look when work begins; None where it is off. It mends only where that is switched on.

    Settings that cannot be read switch nothing on: whoever reads them next refuses them.

    Args:
        project: the project.
        ports: what knows of models.
        environ: where keys are looked up; a run takes them out of the process's environment while it works.

    Raises:
        SwarmError: a file that should be mended cannot be written, or was changed meanwhile.
    """
    known = project.environ if environ is None else environ
    try:  # as they are now: the object's own were read when it was made
        automation = load(project_file=project.folder.config, environ=known).automation
    except SwarmError:
        return None
    if not automation.on("config_doctor_on_startup"):
        return None
    return _ran(diagnose(project, ports, fix=automation.on("config_doctor_autofix"), environ=known, tests=False))


def _ran(found: Diagnosis) -> DoctorRan:
    messages = [f"{check.name}: {text}" for check in found.checks for text in (*check.problems, *check.warnings)]
    return DoctorRan(
        passed=found.passed,
        problems=tuple(" ".join(each.split()) for each in messages[:_MOST_MESSAGES]),
        fixed=found.fixed,
        backup=", ".join(found.backup),
    )


class ConfigDoctor:
    """The worker: it looks once, when workers begin.

    Args:
        project: the project.
        ports: what knows of models.
    """

    name = NAME
    limit_s: float | None = None

    def __init__(self, project: Project, ports: Ports) -> None:
        self._project, self._ports = project, ports
        self._environ = dict(project.environ)  # before a run withholds the keys from the commands that it starts

    def subject(self, bus_event: BusEvent) -> str:
        """The start of workers, and nothing else."""
        return start_up(bus_event.happening, bus_event.before, bus_event.after)

    def work(self, subject: str, bus_event: BusEvent) -> DoctorRan | None:
        """Looks, and mends where that is switched on.

        Raises:
            SwarmError: a file that should be mended cannot be written, or was changed meanwhile.
        """
        del subject, bus_event
        return at_startup(self._project, self._ports, self._environ)


def worker(project: Project, ports: Ports) -> ConfigDoctor:
    """The worker of `config_doctor_on_startup`."""
    return ConfigDoctor(project, ports)
