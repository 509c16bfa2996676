"""New tests that call nothing, look at nothing, or look elsewhere: each in a small repository, judged by itself."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

import pytest
from tests.confined import NO_PLUGINS
from tests.engine.steps.proof.test_copies import COMMAND, context, write
from tests.misbehaviour.case import case

from swarmgate.config import ProjectTests
from swarmgate.domain.plan.plan import Kind
from swarmgate.domain.review.evidence import TestRun
from swarmgate.engine.context import Context
from swarmgate.engine.initialise import initialise
from swarmgate.engine.steps.proof.change_proof import prove
from swarmgate.engine.steps.proof.objections import Answer
from swarmgate.engine.steps.proof.proof_runs import Runs
from swarmgate.workspace.test_runs.suites import suites_of

NOTHING, UNPROVEN = "tests prove nothing", "unproven"
OLD = "def half(n):\n    return n / 2\n"
OLD_TEST = "import calc\n\n\ndef test_half():\n    assert calc.half(4) == 2\n"
ADD = f"{OLD}\n\ndef add(a, b):\n    return a + b\n"
HEAD = "import calc\n\n\ndef test_add(monkeypatch):\n    "

Judge = Callable[..., Awaitable[Answer]]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    """A repository with a module and a test of it."""
    monkeypatch.setenv(NO_PLUGINS, "1")
    root = tmp_path / "project"
    conftest = "import sys\n\nsys.path.insert(0, '.')\n"
    write(
        root, {"calc.py": OLD, "tests/conftest.py": conftest, "tests/test_calc.py": OLD_TEST, ".gitignore": "*.pyc\n"}
    )
    subprocess.run(["git", "init", "--quiet"], cwd=root, check=True, capture_output=True)
    commit(root)
    initialise(root)
    (tmp_path / "shared").mkdir()
    return context(root, tmp_path / "shared")


def commit(root: Path) -> None:
    author = ("-c", "user.name=A", "-c", "user.email=a@example.test")
    for args in (("add", "--all"), (*author, "commit", "--quiet", "--message=Start")):
        subprocess.run(["git", *args], cwd=root, check=True, capture_output=True)


@pytest.fixture
def judge(repository: Context) -> Judge:
    """Gives the answer for a change to these files."""

    async def judged(
        files: Mapping[str, str | bytes],
        kind: Kind = Kind.FEATURE,
        *,
        command: str = COMMAND,
        names: tuple[str, ...] = (),
        before: Mapping[str, str] | None = None,
    ) -> Answer:
        if before:
            write(repository.repository.root, before)
            commit(repository.repository.root)
        base = repository.repository.tree_of("HEAD")
        write(repository.repository.root, files)
        change = repository.repository.changes(base, repository.repository.snapshot())
        ran = TestRun(command=command, exit_code=0, seconds=1, passed=2, names=names)
        runs = Runs(repository, change, suites_of(ProjectTests(command=command), ""), ran)
        old = await runs.old((), rewritten=True) if kind is Kind.REFACTORING else None
        return await prove(repository, change, runs, ran, kind=kind, old=old)

    return judged


def stages(answer: Answer) -> list[str]:
    return [each.stage for each in answer.objections]


HOLLOW = (
    "assert callable(calc.add)",
    "monkeypatch.setattr(calc, 'add', lambda a, b: 3)\n    assert calc.add(1, 2) == 3",
    "assert calc.add(1, 2) is not None",
    "calc.add(1, 2)",
    "assert calc.add(1, 2)",
    "assert 'return a + b' in open(calc.__file__).read()",
    "import inspect\n    assert list(inspect.signature(calc.add).parameters) == ['a', 'b']",
    "try:\n        assert calc.add(1, 2) == 3\n    except Exception:\n        assert calc.add",
    "assert calc.add.__code__.co_name == 'add'",
)
OF_THE_TEXT = "import inspect\n    assert inspect.getsource(calc.add).endswith('b):\\n    return a + b\\n')"


@pytest.mark.slow
@case(
    "lies",
    "hollow tests of a new function: `assert callable(add)`, a monkeypatched `add`, a call whose result nobody looks "
    "at, the text of the source, its signature, a caught error",
    "they are run with the bodies of new and changed functions replaced as well: rejected, `tests prove nothing`",
)
async def test_hollow_tests_prove_nothing_all_together(judge: Judge) -> None:
    """The calls that nobody looks at are left out: they notice a body that raises."""
    silent = [body for body in HOLLOW if "calc.add(1, 2)" not in body or "monkeypatch" in body]
    tests = "".join(f"\n\ndef test_{number}(monkeypatch):\n    {body}\n" for number, body in enumerate(silent))
    answer = await judge({"calc.py": ADD, "tests/test_add.py": f"import calc\n{tests}"})
    assert stages(answer)[:1] == [NOTHING]
    assert "add (calc.py:5)" in answer.objections[0].reason
    assert answer.proof is not None
    assert len(answer.proof.unnoticed) == 2


@pytest.mark.slow
async def test_a_call_whose_result_nobody_looks_at_proves_nothing(judge: Judge) -> None:
    looks = [body for body in HOLLOW if body.endswith(("calc.add(1, 2)", "is not None"))]
    tests = "".join(f"\n\ndef test_{number}(monkeypatch):\n    {body}\n" for number, body in enumerate(looks))
    answer = await judge({"calc.py": ADD, "tests/test_add.py": f"import calc\n{tests}"})
    assert stages(answer) == [NOTHING]
    assert answer.proof is not None
    assert answer.proof.unnoticed == ("returns a wrong constant at once",)


@pytest.mark.slow
async def test_a_test_of_the_text_of_the_source_proves_nothing(judge: Judge) -> None:
    answer = await judge({"calc.py": ADD, "tests/test_add.py": HEAD + OF_THE_TEXT + "\n"})
    assert stages(answer) == [NOTHING]
    assert "where the code is only written in other words" in answer.objections[0].reason


@pytest.mark.slow
@pytest.mark.parametrize("body", HOLLOW)
async def test_a_hollow_test_proves_nothing(judge: Judge, body: str) -> None:
    answer = await judge({"calc.py": ADD, "tests/test_add.py": HEAD + body + "\n"})
    assert stages(answer)[:1] == [NOTHING], answer


OF_NAMES = "import calc\n\n\ndef test_add():\n    from calc import add\n\n    assert callable(add)\n"
DEFINED = {
    "by a condition that is always met": f"{OLD}\nimport sys\n\nif sys.version_info >= (3,):\n    BODY",
    "by a name that is always there": f"{OLD}\nif __name__:\n    BODY",
    "after an import that always fails": f"{OLD}\ntry:\n    import nowhere\nexcept ImportError:\n    BODY",
    "as a declaration": f"{OLD}\nfrom abc import abstractmethod\n\n\n@abstractmethod\nBODY",
    "as what only speaks": f"{OLD}\nimport logging\n\n\ndef add(a, b):\n    logging.info(a + b)\n",
    "as a lambda": f"{OLD}\nadd = lambda a, b: a + b\n",
    "as a lambda in a table": f'{OLD}\nOPS = {{"+": lambda a, b: a + b}}\nadd = OPS["+"]\n',
    "as a lambda that a call is given": f"{OLD}\nadd = dict(add=lambda a, b: a + b)['add']\n",
    "beyond the depth of a tree": ADD.replace("a + b", f"a + b + 0 * ({'+'.join(['1'] * 1500)})"),
    "in another encoding": "# coding: latin-1\n# \u00e9\n" + ADD,
}
"""How a function can be written that stays out of sight of what replaces bodies."""


@pytest.mark.slow
@pytest.mark.parametrize("where", DEFINED)
@case(
    "lies",
    "a hollow test of a function that is defined below `sys.version_info >= (3,)` or in an `except`, called abstract, "
    "a lambda, nested 1,500 deep, or in a file in Latin-1",
    "what is defined here has to run here, by whatever way it came to be: rejected, `tests prove nothing`",
)
async def test_no_way_to_define_a_function_keeps_it_out_of_sight(judge: Judge, where: str) -> None:
    source = DEFINED[where].replace("    BODY", "    def add(a, b):\n        return a + b\n")
    source = source.replace("BODY", "def add(a, b):\n    return a + b\n")
    coded = source.encode("latin-1" if "latin" in source else "utf-8")
    answer = await judge({"calc.py": coded, "tests/test_add.py": OF_NAMES})
    assert stages(answer)[:1] == [NOTHING], answer
    real = OF_NAMES.replace("callable(add)", "add(1, 2) == 3")
    if "speaks" not in where:
        assert stages(await judge({"calc.py": coded, "tests/test_add.py": real})) == []


@pytest.mark.slow
async def test_what_another_system_defines_is_not_asked_for(judge: Judge) -> None:
    other = f"{ADD}\nimport sys\n\nif sys.platform == 'other':\n\n    def there():\n        return 1\n"
    assert stages(await judge({"calc.py": other, "tests/test_add.py": REAL})) == []


@pytest.mark.slow
@pytest.mark.parametrize("condition", ["sys.version_info >= (3,)", "__name__"])
async def test_a_branch_that_is_taken_here_has_to_run_whatever_its_condition_asks(judge: Judge, condition: str) -> None:
    hidden = f"    import sys\n    if {condition}:\n        if n > 100:\n            n = 0\n    return n / 2"
    answer = await judge({"calc.py": ADD.replace("    return n / 2", hidden), "tests/test_add.py": REAL})
    assert stages(answer) == [UNPROVEN]
    elsewhere = hidden.replace(f"if {condition}", "if sys.platform == 'other'")
    assert stages(await judge({"calc.py": ADD.replace("    return n / 2", elsewhere)})) == []


@pytest.mark.slow
@pytest.mark.parametrize("place", ["vendor/calc.py", "docs/calc.py", "tests/calc.py"])
@case(
    "lies",
    "a module that is moved to a folder of vendored code, documentation or tests, and altered on the way",
    "it counts by both of its names: code of the product, and `unproven` without a test",
)
async def test_code_that_moves_to_where_nobody_looks_is_the_products_own(
    repository: Context, judge: Judge, place: str
) -> None:
    long = OLD + "".join(f"\n\ndef f{number}(n):\n    return n + {number}\n" for number in range(20))
    write(repository.repository.root, {"calc.py": long})
    commit(repository.repository.root)
    (repository.repository.root / "calc.py").unlink()
    answer = await judge({place: long.replace("n / 2", "n / 3")})
    assert stages(answer) == [UNPROVEN]


REWRITES = """import importlib
import pathlib


def test_add():
    place = pathlib.Path("calc.py")
    before = place.read_text()
    place.write_text("def add(a, b):\\n    return a + b\\n")
    import calc

    importlib.reload(calc)
    try:
        assert calc.add(1, 2) == 3
    finally:
        place.write_text(before)
"""


@pytest.mark.slow
@case(
    "lies",
    "a test that writes the source anew, tests that, and restores it",
    "the code that was handed in never ran: rejected, `tests prove nothing`",
)
async def test_a_test_that_rewrites_the_source_proves_nothing(judge: Judge) -> None:
    answer = await judge({"calc.py": ADD, "tests/test_add.py": REWRITES})
    assert stages(answer)[:1] == [NOTHING]


@pytest.mark.slow
async def test_a_hollow_test_beside_a_real_one_that_stood_there_proves_nothing(judge: Judge) -> None:
    changed = ADD.replace("return n / 2", "return add(n, 0) / 2")
    hollow = f"{OLD_TEST}\n\ndef test_add():\n    assert callable(calc.add)\n"
    answer = await judge({"calc.py": changed, "tests/test_calc.py": hollow})
    assert stages(answer) == [NOTHING]
    real = hollow.replace("callable(calc.add)", "calc.add(1, 2) == 3")
    assert stages(await judge({"calc.py": changed, "tests/test_calc.py": real})) == []


RECORD = f"""{OLD}
from dataclasses import dataclass, field


@dataclass
class P:
    x: int
    y: list = field(default_factory=lambda: [1])
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "test"),
    [
        (ADD, "assert calc.add(1, 2) == 3"),
        (f"{OLD}LIMIT = 3\n", "assert calc.LIMIT == 3"),
        (f"{OLD}def even(n):\n    return n % 2 == 0\n", "assert calc.even(2)"),
        (f"{OLD}def items():\n    yield 1\n", "assert list(calc.items()) == [1]"),
        (f"{OLD}class Box:\n    def __init__(self):\n        self.n = 1\n", "assert calc.Box().n == 1"),
        (f"{OLD}class Box:\n    @property\n    def n(self): return 1\n", "assert calc.Box().n == 1"),
        (f"{OLD}async def a():\n    return 1\n", "import asyncio; assert asyncio.run(calc.a()) == 1"),
        (f"{OLD}def put(to):\n    to.append(1)\n", "a = []; calc.put(a); assert a == [1]"),
        (RECORD, "assert calc.P(1).x == 1"),
        (f"{OLD}from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int = 1\n", "assert calc.P().x == 1"),
        (
            f"{OLD}ALL = []\ndef known(f):\n    ALL.append(f)\n    return f\n@known\ndef one():\n    return 1\n",
            "assert calc.ALL[0]() == 1",
        ),
        (f"{OLD}ALL = []\ndef known(f):\n    ALL.append(f)\n    return f\n@known\nclass A:\n    x = 1\n",
         "assert [each.x for each in calc.ALL] == [1]"),
        (f"{OLD}def same(n):\n    if n < 0:\n        raise ValueError(n)\n    return n\n",
         "import pytest\n    with pytest.raises(ValueError):\n        calc.same(-1)\n    assert calc.same(2) == 2"),
        (OLD.replace("n / 2", "n // 2"), "assert calc.half(3) == 1"),
        (f"{OLD}import sys\nif __name__ == '__main__':\n    print('two')\n",
         "import subprocess, sys\n    assert subprocess.check_output([sys.executable, 'calc.py']) == b'two\\n'"),
    ],
)  # fmt: skip
async def test_an_honest_test_is_the_proof(judge: Judge, source: str, test: str) -> None:
    answer = await judge({"calc.py": source, "tests/test_new.py": f"import calc\n\n\ndef test_new():\n    {test}\n"})
    assert stages(answer) == [], answer.objections
    assert answer.proof is not None
    assert (answer.proof.able, answer.proof.unnoticed, answer.proof.unrun) == (True, (), ())


@pytest.mark.slow
async def test_honest_tests_of_all_kinds_of_code_are_the_proof(judge: Judge) -> None:
    source = (
        f"{ADD}\n\nLIMIT = 3\n\n\ndef even(n):\n    return n % 2 == 0\n\n\ndef items():\n    yield 1\n\n\n"
        "class Box:\n    def __init__(self):\n        self.n = 1\n\n    @property\n    def m(self): return self.n\n\n\n"
        "async def later():\n    return 1\n\n\nALL = []\n\n\ndef known(f):\n    ALL.append(f)\n    return f\n\n\n"
        "@known\ndef one():\n    if LIMIT > 9:\n        raise ValueError\n    return 1\n"
    )
    test = (
        "import asyncio\n\nimport calc\n\n\ndef test_all():\n    assert calc.add(1, 2) == calc.LIMIT == 3\n"
        "    assert calc.even(2)\n    assert list(calc.items()) == [calc.Box().m] == [asyncio.run(calc.later())]\n"
        "    assert [each() for each in calc.ALL] == [1]\n"
    )
    answer = await judge({"calc.py": source, "tests/test_new.py": test})
    assert stages(answer) == [], answer.objections
    assert answer.proof is not None
    assert (answer.proof.able, answer.proof.unnoticed, answer.proof.unrun) == (True, (), ())


@pytest.mark.slow
async def test_what_another_process_runs_is_measured(judge: Judge) -> None:
    test = (
        "import subprocess, sys\n\n\ndef test_new():\n    code = 'import calc; print(calc.add(1, 2))'\n"
        "    assert subprocess.check_output([sys.executable, '-c', code]) == b'3\\n'\n"
    )
    answer = await judge({"calc.py": ADD, "tests/test_new.py": test})
    assert stages(answer) == []


REAL = "import calc\n\n\ndef test_add():\n    assert calc.add(1, 2) == 3\n"
LOOSE = f"{ADD}\n\ndef sub(a, b):\n    return a - b\n"


@pytest.mark.slow
@case(
    "lies",
    "a second new function that no test runs",
    "which lines run is measured, in each process: rejected, `unproven`, with the function and its line",
)
async def test_a_function_that_no_passing_test_runs_is_unproven(judge: Judge) -> None:
    answer = await judge({"calc.py": LOOSE, "tests/test_add.py": REAL})
    assert stages(answer) == [UNPROVEN]
    assert answer.objections[0].reason == "no passing test runs sub (calc.py:9)"
    (remark,) = answer.objections[0].remarks
    assert (remark.file, remark.line) == ("calc.py", 9)


@pytest.mark.slow
async def test_a_test_that_was_there_may_run_what_was_changed(judge: Judge) -> None:
    changed = ADD.replace("return n / 2", "return n * 0.5")
    assert stages(await judge({"calc.py": changed, "tests/test_add.py": REAL})) == []


@pytest.mark.slow
async def test_a_new_branch_has_to_run(judge: Judge) -> None:
    branch = f"{ADD}".replace("    return n / 2", "    if n > 100:\n        n = 0\n    return n / 2")
    answer = await judge({"calc.py": branch, "tests/test_add.py": REAL})
    assert stages(answer) == [UNPROVEN]
    assert "half (calc.py:3)" in answer.objections[0].reason


async def test_a_change_without_a_new_test_is_unproven(judge: Judge) -> None:
    answer = await judge({"calc.py": OLD.replace("n / 2", "n * 0.5")})
    assert stages(answer) == [UNPROVEN]
    assert "brings no new test" in answer.objections[0].reason


@pytest.mark.slow
async def test_a_refactoring_is_run_by_tests_that_were_there(judge: Judge) -> None:
    split = "def half(n):\n    return _part(n, 2)\n\n\ndef _part(n, of):\n    return n / of\n"
    assert stages(await judge({"calc.py": split}, Kind.REFACTORING)) == []
    answer = await judge({"calc.py": LOOSE, "tests/test_add.py": REAL}, Kind.REFACTORING)
    assert stages(answer) == [UNPROVEN]
    assert "no test that was there before it runs add (calc.py:5), sub (calc.py:9)" in answer.objections[0].reason


@pytest.mark.slow
@pytest.mark.parametrize("kind", [Kind.DOCUMENTATION, Kind.CONFIGURATION])
async def test_what_the_plan_says_is_not_believed(judge: Judge, kind: Kind) -> None:
    assert await judge({"README.md": "# Words\n", "calc.py": f"# words\n{OLD}"}, kind) == Answer()
    answer = await judge({"calc.py": ADD}, kind)
    assert stages(answer) == [UNPROVEN]
    assert answer.objections[0].reason == f"the plan says that the task is {kind}, and it changes calc.py"


async def test_scripts_of_builds_are_configuration_and_no_documentation(judge: Judge) -> None:
    assert stages(await judge({"setup.py": "print(1)\n"}, Kind.CONFIGURATION)) == []
    assert stages(await judge({"setup.py": "print(2)\n"}, Kind.DOCUMENTATION)) == [UNPROVEN]


async def test_new_code_under_a_name_of_others_is_the_projects_own(judge: Judge) -> None:
    answer = await judge({"vendor/impl.py": "def one():\n    return 1\n"})
    assert stages(answer) == [UNPROVEN]


@pytest.mark.slow
async def test_a_suite_whose_runner_takes_no_files_is_measured_too(judge: Judge) -> None:
    command = f"{sys.executable} -m unittest discover -q -s tests -t ."
    test = (
        "import unittest\n\nimport calc\n\n\nclass TestAdd(unittest.TestCase):\n    def test_add(self):\n        BODY\n"
    )
    package = {"tests/__init__.py": "", "calc.py": ADD}
    hollow = await judge({**package, "tests/test_add.py": test.replace("BODY", "assert calc.add")}, command=command)
    assert stages(hollow)[:1] == [NOTHING]
    real = test.replace("BODY", "self.assertEqual(calc.add(1, 2), 3)\n        calc.half(4)")
    assert stages(await judge({**package, "tests/test_add.py": real}, command=command)) == []


@pytest.mark.slow
@case(
    "lies",
    "a comment that names an old test, so that its failure over replaced bodies counts for a hollow new one (unittest)",
    "a test counts as new by its own text: rejected, `tests prove nothing`",
)
async def test_a_comment_makes_no_old_test_a_new_one(judge: Judge) -> None:
    command = f"{sys.executable} -m unittest discover -q -s tests -t ."
    head = "import unittest\n\nimport calc\n\n\nclass TestN(unittest.TestCase):\n"
    old = f"{head}    def test_of_old(self):\n        self.assertEqual(calc.half(4), 2)\n"
    hollow = f"{head}    def test_add(self):  # unlike test_of_old\n        self.assertTrue(calc.add)\n"
    root = {"tests/__init__.py": "", "tests/test_calc.py": old}
    changed = {"calc.py": ADD.replace("n / 2", "n * 0.5"), "tests/test_add.py": hollow}
    answer = await judge(changed, command=command, before=root)
    assert stages(answer)[:1] == [NOTHING], answer
    real = hollow.replace("assertTrue(calc.add)", "assertEqual(calc.add(1, 2), 3)")
    assert stages(await judge({"tests/test_add.py": real}, command=command)) == []


DOCTEST = ADD.replace("    return a + b", '    """Sum.\n\n    >>> EXAMPLE\n    """\n    return a + b')


@pytest.mark.slow
@case(
    "lies",
    "a hollow example in a docstring as the only test of a new function",
    "examples are run over replaced bodies as well: rejected, `tests prove nothing`",
)
async def test_a_hollow_example_in_a_docstring_proves_nothing(judge: Judge) -> None:
    command = f"{COMMAND} --doctest-modules"
    names = ("calc.py::calc.add",)
    hollow = DOCTEST.replace("EXAMPLE", "bool(add)\n    True")
    answer = await judge({"calc.py": hollow}, command=command, names=names)
    assert stages(answer) == [NOTHING] or stages(answer) == [UNPROVEN], answer
    called = DOCTEST.replace("EXAMPLE", "add(1, 2) and None")
    assert stages(await judge({"calc.py": called}, command=command, names=names)) == [NOTHING]
    real = DOCTEST.replace("EXAMPLE", "add(1, 2)\n    3")
    assert stages(await judge({"calc.py": real}, command=command, names=names)) == []
