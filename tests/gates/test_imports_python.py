"""Tests the imports gate on Python: modules, names, packages, guards; new against old."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import pytest

from swarmgate.domain.review.finding import GateStatus, Severity

if TYPE_CHECKING:
    from pathlib import Path

    from swarmgate.domain.review.finding import GateResult

    Project = Any

PYPROJECT = (
    '[project]\nname = "shop"\nversion = "0"\nrequires-python = ">=3.12"\ndependencies = ["requests", "PyYAML"]\n'
)


def _found(result: GateResult) -> list[tuple[str, str, int]]:
    return [(each.rule, each.path, each.line) for each in result.findings if each.new]


def _project(project: Project, **files: str) -> None:
    project.commit_files({"pyproject.toml": PYPROJECT, "src/shop/__init__.py": "", **files})


def test_nothing_of_its_kind_is_a_skip(project: Project) -> None:
    project.write("notes.md", "# Notes\n")
    result = project.gate("imports")
    assert (result.status, result.reason) == (GateStatus.SKIP, "no file of its kind was changed")


@pytest.mark.slow
def test_an_invented_package_is_named_with_what_was_meant(project: Project) -> None:
    _project(project)
    project.write("src/shop/web.py", "import reqeusts\nimport foo_bar\n")
    result = project.gate("imports")
    assert result.status is GateStatus.FAIL
    slip, invented = result.findings
    assert (slip.rule, slip.line, slip.severity) == ("invented-package", 1, Severity.HIGH)
    assert slip.suggestion == "did you mean `requests`?"
    assert invented.message == (
        "`foo_bar` is neither in the project, the standard library, the declared dependencies nor the environment: "
        "an invented package?"
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "meant"),
    [("reqeusts", "requests"), ("pythondateutil", "python-dateutil"), ("beautifulsoop4", "beautifulsoup4"),
     ("numpyy", "numpy"), ("flask-sqlalchmey", "flask-sqlalchemy"), ("crytpograhpy", "cryptography")],
)  # fmt: skip
def test_declaring_a_lookalike_does_not_excuse_its_import(project: Project, name: str, meant: str) -> None:
    _project(project)
    project.write("pyproject.toml", PYPROJECT.replace('"PyYAML"', f'"PyYAML", "{name}"'))
    project.write("src/shop/web.py", f"import {name.replace('-', '_')}\n")
    (finding,) = project.gate("imports").findings
    assert (finding.rule, finding.severity) == ("lookalike-dependency", Severity.MEDIUM)
    assert f"`{meant}`" in finding.message
    project.commit()
    project.write("pyproject.toml", PYPROJECT.replace('"PyYAML"', f'"{name}"'))
    assert project.gate("imports").findings == ()  # it was there before


@pytest.mark.slow
def test_what_nobody_has_seen_is_told(project: Project) -> None:
    _project(project)
    names = ["fastjsonparser-pro", "boto3", "flask", "black", "django-rest", "httpx2", "slack", "uvloop"]
    project.write("requirements.txt", "\n".join(names) + "\n-e file:///x#egg=other\n")
    project.write("src/shop/web.py", "import boto3, flask, black, rest, httpx2, slack, fastjsonparser, uvloop\n")
    found = [each for each in project.gate("imports").findings if each.rule != "unused-dependency"]
    assert {(each.rule, each.severity) for each in found} == {("unseen-dependency", Severity.LOW)}
    assert found[0].message == "nobody here has seen `fastjsonparser-pro`: check that it exists"
    assert [each.line for each in found] == [1, 5, 6, 7]
    lock = "".join(f'[[package]]\nname = "{name}"\nversion = "1"\n' for name in names)
    project.write("uv.lock", f"version = 1\n{lock}")
    assert [each for each in project.gate("imports").findings if each.rule == "unseen-dependency"] == []


def test_what_resolves_is_no_finding(project: Project) -> None:
    _project(project, **{"src/shop/prices.py": "def price(): ...\nRATE = 1\n", "src/shop/parts/__init__.py": ""})
    project.write(
        "src/shop/web.py",
        "import os.path, requests, yaml, urllib3\nfrom shop.prices import price, RATE\nfrom . import prices, parts\n"
        "from .prices import *\nimport shop.parts\nfrom shop import parts as p\n",
    )
    project.write("tests/test_web.py", "from shop.web import price\n\n\ndef test_it():\n    import shop.prices\n")
    assert project.gate("imports").status is GateStatus.PASS


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "rule"),
    [
        ("import shop.nothing", "unresolved-module"),
        ("from shop.nothing import x", "unresolved-module"),
        ("from .nothing import x", "unresolved-module"),
        ("from ....far import x", "relative-beyond-top"),
        ("from shop.prices import pirce", "unresolved-name"),
        ("from .prices import pirce", "unresolved-name"),
        ("from . import nothing", "unresolved-name"),
        ("from shop.prices.deeper import x", "unresolved-module"),
        ("def f():\n    import foo_bar", "invented-package"),
        ("import importlib\nimportlib.import_module('foo_bar.x')", "invented-package"),
        ("import urllib2", "removed-module"),
        ("import imp", "removed-module"),
        ("import numpy", "undeclared-dependency"),
    ],
)
def test_what_does_not_resolve(project: Project, line: str, rule: str) -> None:
    _project(project, **{"src/shop/prices.py": "def price(): ...\n"})
    project.write("src/shop/web.py", f"{line}\n")
    result = project.gate("imports")
    assert [each.rule for each in result.findings] == [rule]
    assert result.status is GateStatus.FAIL


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import foo_bar\nexcept ImportError:\n    foo_bar = None\n",
        "try:\n    from foo_bar import x\nexcept (ImportError, OSError):\n    import baz_qux as x\n",
        "import contextlib\nwith contextlib.suppress(ModuleNotFoundError):\n    import foo_bar\n",
        "import sys\nif sys.version_info < (3, 11):\n    import foo_bar\nelse:\n    import baz_qux\n",
        "import sys\nif sys.platform == 'win32':\n    import foo_bar\n",
        "from importlib.util import find_spec\nif find_spec('foo_bar'):\n    import foo_bar\n",
        "def f(pytest):\n    pytest.importorskip('foo_bar')\n    from foo_bar import x\n",
        "# /// script\n# dependencies = ['foo-bar']\n# ///\nimport foo_bar\n",
        "import bpy\n",
        "print(",
    ],
)
def test_guarded_imports_are_no_alarm(project: Project, text: str) -> None:
    _project(project)
    project.write("src/shop/web.py", text)
    assert project.gate("imports").findings == ()


def test_imports_for_the_type_checker_inform(project: Project) -> None:
    _project(project)
    project.write("src/shop/web.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import foo_bar\n")
    result = project.gate("imports")
    assert [(each.rule, each.severity) for each in result.findings] == [("invented-package", Severity.LOW)]
    assert result.status is GateStatus.PASS


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "from shop.names import *\n",
        "def __getattr__(name):\n    return 1\n",
        "globals()['thing'] = 1\n",
        "if True:\n    thing = 1\nelse:\n    thing = 2\n",
        "for thing in (): pass\n",
        "with open('x') as (a, thing): pass\n",
        "def f():\n    global thing\n    thing = 1\n",
        "import os as thing\n",
        "(thing := 1)\n",
        "class Box:\n    pass\n\nthing: int\n",
    ],
)
def test_names_are_read_as_python_binds_them(project: Project, text: str) -> None:
    _project(project, **{"src/shop/names.py": "thing = 1\n"})
    project.write("src/shop/box.py", text)
    project.write("src/shop/web.py", "from shop.box import thing\nfrom shop.box import nothing\n")
    named = [each.line for each in project.gate("imports").findings]
    assert 1 not in named
    assert (2 in named) is ("getattr" not in text and "globals" not in text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("requirements/base.txt", "-e git+https://example.com/x/foo_bar.git@v1\n", "import foo_bar"),
        ("setup.py", "from setuptools import setup\nsetup(install_requires=['foo-bar>=1'])\n", "import foo_bar"),
        ("setup.cfg", "[options]\ninstall_requires =\n    foo-bar>=1\n", "import foo_bar"),
        ("Pipfile", "[packages]\nfoo-bar = '*'\n", "import foo_bar"),
        ("a/pyproject.toml", "[tool.poetry.group.dev.dependencies]\nfoo-bar = '^1'\n", "import foo_bar"),
        ("b/pyproject.toml", "[dependency-groups]\ndev = ['python-foo-bar']\n", "import foo_bar"),
        (
            "c/pyproject.toml",
            "[project]\nname = 'x'\noptional-dependencies.a = ['Foo.Bar[x]>1; python_version>\"3\"']\n",
            "import foo_bar",
        ),
        ("environment.yml", "dependencies:\n  - foo-bar=1.0\n", "import foo_bar"),
        ("tox.ini", "[testenv]\ndeps =\n    foo-bar\n", "import foo_bar"),
        ("Dockerfile", "FROM x\nRUN pip install --no-cache-dir foo-bar==1 other\n", "import foo_bar"),
        ("requirements.txt", "opencv-python-headless\n", "import cv2"),
        ("requirements.txt", "beautifulsoup4\npython-dateutil\nscikit-learn\npillow\n",
         "import bs4, dateutil.parser, sklearn.svm, PIL.Image"),
        ("requirements.txt", "google-cloud-storage\n", "from google.cloud import storage"),
        ("requirements.txt", "Flask\n", "import werkzeug, jinja2"),
        ("uv.lock", "version = 1\n[[package]]\nname = 'foo-bar'\nversion = '1'\nsource = { registry = 'https://x' }\n",
         "import foo_bar"),
    ],
)  # fmt: skip
def test_declared_in_every_form(project: Project, path: str, text: str, line: str) -> None:
    _project(project)
    project.write("src/shop/web.py", f"{line}\n")
    assert project.gate("imports").status is GateStatus.FAIL
    project.commit_files({path: text})
    project.write("src/shop/web.py", f"{line}\n# again\n")
    assert project.gate("imports").findings == ()


def _environment(root: Path, version: str = "3.11") -> Path:
    site = root / f".venv/lib/python{version}/site-packages"
    site.mkdir(parents=True)
    (root / ".venv/pyvenv.cfg").write_text("home = /usr/bin\n")
    (root / ".gitignore").write_text(".venv\n")
    return site


def test_what_is_installed_in_the_projects_environment_is_there(project: Project) -> None:
    _project(project)
    site = _environment(project.root)
    (site / "foo_bar").mkdir()
    (site / "single.py").write_text("")
    (site / "fast.cpython-311-x86_64-linux-gnu.so").write_text("")
    elsewhere = project.root / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "linked.py").write_text("")
    (site / "link.pth").write_text(f"{elsewhere}\n")
    (site / "__editable___x_finder.py").write_text("MAPPING: dict[str, str] = {'edited': '/x/edited'}\n")
    project.write("src/shop/web.py", "import foo_bar, single, fast, linked, edited\nimport absent\n")
    found = project.gate("imports").findings
    assert [(each.rule, each.line) for each in found] == [("invented-package", 2)]


def test_the_environment_that_runs_us_is_not_the_projects(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    _project(project)
    project.write("src/shop/web.py", "import swarmgate\n")
    assert _found(project.gate("imports")) == [("invented-package", "src/shop/web.py", 1)]


def test_without_a_manifest_little_is_certain(project: Project) -> None:
    project.commit_files({"helper.py": "def h(): ...\n"})
    project.write("run.py", "import numpy\nimport foo_bar\nimport reqeusts\nfrom helper import h\n")
    found = project.gate("imports").findings
    assert [(each.line, each.severity) for each in found] == [(2, Severity.LOW), (3, Severity.MEDIUM)]


def test_layouts(project: Project) -> None:
    project.commit_files({
        "one/pyproject.toml": "[project]\nname = 'one'\ndependencies = ['x']\n", "one/src/one/__init__.py": "a = 1\n",
        "two/setup.py": "setup()\n", "two/two/__init__.py": "", "two/tests/helpers.py": "def h(): ...\n",
        "two/tests/conftest.py": "import sys\n", "space/deep/mod.py": "b = 1\n",
    })  # fmt: skip
    project.write("two/two/use.py", "from one import a\nfrom space.deep.mod import b\nfrom space.deep import mod\n")
    project.write("two/tests/test_use.py", "from helpers import h\nfrom two.use import a\n")
    project.write("space/deep/wrong.py", "from space.deep.nothing import b\nfrom one import nope\n")
    assert _found(project.gate("imports")) == [
        ("unresolved-module", "space/deep/wrong.py", 1),
        ("unresolved-name", "space/deep/wrong.py", 2),
    ]


def test_generated_and_compiled_modules_are_no_alarm(project: Project) -> None:
    _project(project, **{
        "src/shop/fast.pyx": "", "src/shop/data.proto": "", ".gitignore": "src/shop/_version.py\n",
        "src/shop/core.pyi": "x: int\n",
    })  # fmt: skip
    project.write(
        "src/shop/web.py",
        "from shop import fast\nfrom shop.fast import go\nfrom .data_pb2 import M\nfrom ._version import version\n"
        "from .core import x\n",
    )
    assert project.gate("imports").findings == ()


def test_old_findings_inform(project: Project) -> None:
    _project(project, **{"src/shop/web.py": "import foo_bar\n"})
    project.write("src/shop/web.py", "import foo_bar\nx = 1\n")
    result = project.gate("imports")
    assert [each.new for each in result.findings] == [False]
    assert result.status is GateStatus.PASS


def test_what_the_change_takes_away_breaks_its_importers(project: Project) -> None:
    _project(
        project,
        **{
            "src/shop/a.py": "def kept(): ...\ndef gone(): ...\n", "src/shop/b.py": "from shop.a import kept, gone\n",
            "src/shop/c.py": "x = 1\n", "src/shop/d.py": "def f():\n    from .c import x\n",
        },
    )  # fmt: skip
    project.write("src/shop/a.py", "def kept(): ...\n")
    (project.root / "src/shop/c.py").unlink()
    result = project.gate("imports")
    assert _found(result) == [("unresolved-name", "src/shop/b.py", 1), ("unresolved-module", "src/shop/d.py", 2)]
    assert result.status is GateStatus.FAIL


def test_only_deletions_are_judged_too(project: Project) -> None:
    _project(project, **{"src/shop/c.py": "x = 1\n", "src/shop/d.py": "from .c import x\n"})
    (project.root / "src/shop/c.py").unlink()
    assert _found(project.gate("imports")) == [("unresolved-module", "src/shop/d.py", 1)]
