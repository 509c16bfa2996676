"""Tests repositories with several suites: a task runs those that its files belong to, each under its name."""

from __future__ import annotations

import shutil
import sys
from typing import Any

import pytest
from tests.misbehaviour.case import case
from tests.project import Project, code, engineer, part, plan, task

from swarmgate.config import load
from swarmgate.domain.events import event as ev
from swarmgate.workspace.test_runs.suites import TestSuite

RUNNER = f"{sys.executable} -m unittest discover -q"
PYTEST = f"{sys.executable} -m pytest -q"


def a_test(asserted: str = "True") -> str:
    return f"import unittest\n\n\nclass T(unittest.TestCase):\n    def test_start(self):\n        assert {asserted}\n"


def tables(*suites: dict[str, Any], **tests: Any) -> dict[str, Any]:
    return {"tests": {"suite": list(suites), "command": None, **tests}}


def suite(name: str, *more: str, command: str = f"{RUNNER} -s tests", **other: Any) -> dict[str, Any]:
    folder = f"packages/{name}"
    return {"name": name, "paths": [folder, *more], "folder": folder, "command": command, **other}


@pytest.fixture
def packages(project: Project) -> Project:
    for name in ("api", "web"):
        project.write(f"packages/{name}/tests/test_{name}.py", a_test())
        project.write(f"packages/{name}/src/one.py", '"""One."""\n')
    project.git("add", "--all")
    project.git("commit", "-q", "-m", "Packages")
    return project


def in_api(task_id: str = "1.1", folder: str = "packages/api/src", **more: Any) -> dict[str, Any]:
    return task(task_id, files=[f"{folder}/part_{task_id.replace('.', '_')}.py"], **more)


def coded(task_id: str = "1.1", folder: str = "packages/api/src") -> dict[str, Any]:
    return code({f"{folder}/part_{task_id.replace('.', '_')}.py": part(task_id)}, task=task_id)


def ran(project: Project) -> list[tuple[str, ...]]:
    return [each.run.suites for each in project.events(ev.TestsRun)]


@pytest.mark.slow
def test_a_task_runs_the_suite_of_its_files_and_no_other(packages: Project) -> None:
    broken = suite("web", command="false")
    packages.planned(plan(in_api()), coded(), **tables(suite("api"), broken))
    packages.swarm("run", exits=3)
    assert ran(packages) == [("api",)]
    assert packages.events(ev.TestsRun)[0].run.passed == 1
    assert "tests of api: 1 passed" in packages.swarm("history").stdout


@pytest.mark.slow
def test_a_change_in_two_packages_runs_both_suites_and_names_the_one_that_fails(packages: Project) -> None:
    packages.write("packages/web/tests/test_web.py", a_test("False"))
    packages.git("commit", "-qam", "Red")
    both = {"packages/api/src/a.py": part("a"), "packages/web/src/b.py": part("b")}
    packages.planned(plan(task("1.1", files=list(both))), code(both), **tables(suite("api"), suite("web")))
    packages.swarm("run", exits=1)
    assert ran(packages)[0] == ("api", "web")
    rejected = packages.events(ev.AttemptRejected)[0]
    assert rejected.stage == "tests"
    assert rejected.reason.startswith("suite web: ")


@case(
    "lies",
    "let the suite of a package collect no test",
    "rejected by `tests`, with the suite's name: a suite that runs no test has not passed",
)
@pytest.mark.slow
def test_a_suite_without_tests_is_no_pass(packages: Project) -> None:
    empty = suite("web", command=f"{RUNNER} -s src")
    files = {"packages/web/src/b.py": part("b")}
    packages.planned(plan(task("1.1", files=list(files))), code(files), **tables(suite("api"), empty))
    packages.swarm("run", exits=1)
    assert "suite web: no test ran" in packages.events(ev.AttemptRejected)[0].reason


@pytest.mark.slow
def test_a_suite_that_names_what_it_depends_on_runs_for_that_too(packages: Project) -> None:
    packages.planned(plan(in_api()), coded(), **tables(suite("api"), suite("web", "packages/api/**")))
    packages.swarm("run", exits=3)
    assert ran(packages) == [("api", "web")]


@pytest.mark.slow
@pytest.mark.parametrize(("command", "expected"), [(None, ("api", "web")), (f"{RUNNER} -s tests", ())])
def test_files_of_no_suite_run_the_plain_command_else_every_suite(
    packages: Project, command: str | None, expected: tuple[str, ...]
) -> None:
    packages.write("tests/test_calc.py", a_test())
    packages.git("commit", "-qam", "As unittest has it")
    packages.planned(**tables(suite("api"), suite("web"), command=command))
    packages.swarm("run", exits=3)
    assert ran(packages) == [expected]
    assert "guard suites: noted: no suite names src/calc/part_1.1.py" in packages.swarm("history").stdout


@pytest.mark.slow
def test_new_tests_of_a_package_prove_its_change_from_its_own_folder(packages: Project) -> None:
    new = "from src.part_1_1 import VALUE\n\n\ndef test_part() -> None:\n    assert VALUE == '1.1'\n"
    written = engineer({"packages/api/tests/test_part.py": new})
    packages.write("packages/api/conftest.py", "")
    packages.git("add", "--all")
    packages.git("commit", "-q", "-m", "Importable")
    packages.planned(
        plan(in_api()), coded(), written, **tables(suite("api", command=PYTEST), suite("web"), unproven="block")
    )
    packages.swarm("run", exits=3)
    names = packages.json("show", "1.1")
    assert "packages/api/tests/test_part.py" in str(names)
    run = packages.events(ev.TestsRun)[0]
    assert run.proof is not None
    assert run.proof.able
    assert "packages/api/tests/test_part.py" in " ".join(run.proof.run.failures)


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_suites_of_two_languages_prove_one_change_together(packages: Project) -> None:
    head = (
        "const test = require('node:test');\nconst assert = require('node:assert');\nconst m = require('../calc.js');\n"
    )
    packages.write("packages/web/package.json", '{"name": "web", "type": "commonjs"}\n')
    packages.write("packages/web/calc.js", "exports.half = (n) => n / 2;\n")
    packages.write(
        "packages/web/test/half.test.js", f"{head}test('half', () => {{ assert.strictEqual(m.half(4), 2); }});\n"
    )
    packages.write("packages/api/conftest.py", "")
    packages.git("add", "--all")
    packages.git("commit", "-qm", "Two languages")
    add = "exports.half = (n) => n / 2;\nfunction add(a, b) {\n  return a + b;\n}\nexports.add = add;\n"
    two = '"""Two."""\n\n\ndef two() -> int:\n    """Two."""\n    return 2\n'
    both = {"packages/web/calc.js": add, "packages/api/src/two.py": two}
    tests = {
        "packages/web/test/add.test.js": f"{head}test('add', () => {{ assert.strictEqual(m.add(1, 2), 3); }});\n",
        "packages/api/tests/test_two.py": "from src.two import two\n\n\ndef test_two():\n    assert two() == 2\n",
    }
    suites = suite("api", command=PYTEST), suite("web", command="node --test")
    rules = plan(task("1.1", files=list(both))), code(both), engineer(tests)
    packages.planned(*rules, **tables(*suites, unproven="block"))
    packages.swarm("run", exits=3)
    run = packages.events(ev.TestsRun)[0]
    assert run.run.suites == ("api", "web")
    assert all(each.canary and each.canary.failed for each in run.run.parts)
    assert run.proof is not None
    assert run.proof.run.failures == ("packages/api/tests/test_two.py", "add")


@pytest.mark.slow
def test_the_suites_of_a_phase_run_again_over_its_last_tree(packages: Project) -> None:
    """A task of one package may break another: that shows when all suites that the phase touched run."""
    packages.write(
        "packages/web/tests/test_web.py",
        a_test("not __import__('os').path.exists('../api/src/part_1_2.py')"),
    )
    packages.git("commit", "-qam", "Web looks at api")
    packages.planned(
        plan(in_api("1.1", "packages/web/src"), in_api("1.2")),
        coded("1.1", "packages/web/src"),
        coded("1.2"),
        **tables(suite("api"), suite("web")),
        loop={"max_rejections": 1},
    )
    packages.swarm("run", exits=1)
    assert ran(packages)[:2] == [("web",), ("api",)]
    verdict = packages.events(ev.PhaseReviewed)[0]
    assert verdict.run is not None
    assert (verdict.stage, verdict.run.suites) == ("tests", ("api", "web"))
    assert verdict.review.summary.startswith("since its commit")
    assert [each.task for each in packages.events(ev.TaskCompleted)][:2] == ["1.1", "1.2"]
    assert "Attempt 1: REJECTED (tests) - since its commit" in packages.plan_md


@pytest.mark.slow
def test_a_failed_test_is_that_of_its_suite_though_another_has_a_file_of_that_name(packages: Project) -> None:
    packages.write("packages/api/tests/test_calc.py", "def test_start():\n    assert False\n")
    packages.git("add", "--all")
    packages.git("commit", "-qm", "Red")
    packages.planned(plan(in_api()), coded(), **tables(suite("api", command=PYTEST), suite("web")))
    packages.swarm("run", exits=1)
    assert packages.events(ev.TestsRun)[0].run.failures == ("packages/api/tests/test_calc.py::test_start",)


@pytest.mark.parametrize(
    ("glob", "path", "named"),
    [
        (".", "a.py", True),
        ("./", "lib/a b.py", True),
        ("packages/*/", "packages/\u00e4pi/src/a.py", True),
        ("packages/**/", "packages/api/a.py", True),
        ("packages/*/", "lib/api/a.py", False),
        ("packages/api/", "packages/api/a.py", True),
        ("packages/api", "packages/apis/a.py", False),
    ],
)
def test_a_pattern_names_a_file_a_folder_or_the_whole_project(glob: str, path: str, *, named: bool) -> None:
    assert TestSuite(name="a", command="true", timeout_s=1, paths=(glob,)).answers_for(path) is named


@pytest.mark.slow
def test_suites_are_seen_by_doctor_and_a_folder_that_is_not_there_is_named(packages: Project) -> None:
    packages.configure(**tables(suite("api"), suite("gone")))
    told = packages.swarm("doctor", exits=6).stdout
    assert "suite api" in told
    assert "suite gone: the folder packages/gone is not there" in told


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"name": "a", "paths": ["x"], "command": "y", "timeout": 5},
            "unknown key `timeout`; did you mean `timeout_s`?",
        ),
        ({"name": "a", "paths": [], "command": "y"}, "at least 1 item"),
        ({"name": "a", "paths": ["../x"], "command": "y"}, "never matches"),
        ({"name": "a", "paths": ["x"], "command": "y", "folder": "/x"}, "must be a folder of the project"),
    ],
)
def test_a_wrong_suite_is_refused_with_its_line(project: Project, settings: dict[str, Any], message: str) -> None:
    text = "".join(f"{key} = {value!r}\n".replace("'", '"') for key, value in settings.items())
    project.folder.config.write_text(
        f'[[tests.suite]]\nname = "ok"\npaths = ["ok"]\ncommand = "true"\n[[tests.suite]]\n{text}'
    )
    result = project.swarm("plan", "A goal", exits=2)
    assert message in result.stderr
    assert ".swarm/config.toml, line " in result.stderr


def test_init_proposes_the_suites_that_it_finds_as_settings_that_hold(packages: Project) -> None:
    shutil.rmtree(packages.folder.path)
    for name in ("api", "web"):
        packages.write(f"packages/{name}/pyproject.toml", "[project]\n")
    packages.write("packages/docs/package.json", "{}")
    made = packages.json("init")
    assert made["packages"] == ["packages/api", "packages/web"]
    assert packages.swarm("init").stdout.count("packages/api, packages/web: suites are proposed") == 1
    text = packages.folder.config.read_text()
    before, proposed = text.split("# [[tests.suite]]", 1)
    packages.folder.config.write_text(before + ("# [[tests.suite]]" + proposed).replace("# ", ""))
    suites = load(project_file=packages.folder.config).tests.suite
    assert [(each.name, each.paths, each.folder) for each in suites] == [
        (f"packages-{name}", (f"packages/{name}",), f"packages/{name}") for name in ("api", "web")
    ]
