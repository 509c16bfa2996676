"""Clean checkouts of a tree: what a run needs is there, and the code that runs is the checkout's."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from tests.confined import runner

from swarmgate.errors import MissingRequirement
from swarmgate.workspace.checkout.checkout import Checkout, MixedTree, checked_out
from swarmgate.workspace.checkout.ignored_files import Item
from swarmgate.workspace.git.repository import Repository
from swarmgate.workspace.process import process
from swarmgate.workspace.sandbox.choice import choose
from swarmgate.workspace.sandbox.command_runner import CommandRunner
from swarmgate.workspace.sandbox.confine import confine
from swarmgate.workspace.sandbox.confinement import Sandbox

Git = Callable[..., str]

OLD, NEW = "VALUE = 'old'\n", "VALUE = 'new'\n"
SHOW = "import pkg; print(pkg.VALUE)"


@pytest.fixture
def project(repo: Path, git: Git) -> Path:
    """A package in `src`, committed as OLD and changed to NEW since; `ignored/` and `*.env` are ignored."""
    (repo / "src/pkg").mkdir(parents=True)
    (repo / "src/pkg/__init__.py").write_text(OLD)
    (repo / ".gitignore").write_text("ignored/\nnode_modules/\nvendor/\n*.env\n.venv/\ndist/\n*.so\n")
    git(repo, "add", "--all")
    git(repo, "commit", "--quiet", "--message=old")
    (repo / "src/pkg/__init__.py").write_text(NEW)
    return repo


def before(project: Path) -> str:
    return Repository.discover(project).head_tree()


async def ran(copy: Checkout, code: str = SHOW, *, command: str = "") -> str:
    line = command or f"{sys.executable} -c {shlex.quote(code)}"
    done = await process.run(copy.command(line), cwd=copy.root, timeout_s=20, env=copy.environment)
    assert done.ok, done.output
    return done.stdout.strip()


async def test_the_checkout_holds_the_tree_and_vanishes(project: Path) -> None:
    (project / "empty").mkdir()
    with checked_out(project, before(project)) as copy:
        assert (copy.root / "src/pkg/__init__.py").read_text() == OLD
        assert copy.root.name == project.name
        assert not (copy.root / "empty").exists()
    assert not copy.root.parent.exists()
    assert (project / "src/pkg/__init__.py").read_text() == NEW


async def test_of_a_change_only_some_paths_are_taken(project: Path, git: Git) -> None:
    repository = Repository.discover(project)
    (project / "src/pkg/more.py").write_text("X = 1\n")
    (project / "README.md").unlink()
    git(project, "mv", ".gitignore", "rules")
    change = repository.changes(before(project), repository.snapshot())
    some = MixedTree(change, frozenset({"src/pkg/more.py", "README.md", ".gitignore", "src/never-there.py"}))
    with checked_out(project, some) as copy:
        assert (copy.root / "src/pkg/more.py").read_text() == "X = 1\n"
        assert not (copy.root / "README.md").exists()
        assert not (copy.root / ".gitignore").exists()
        assert not (copy.root / "rules").exists()
        assert (copy.root / "src/pkg/__init__.py").read_text() == OLD
        assert copy.rewritten() == ()
        (copy.root / "src/pkg/more.py").write_text("X = 2\n")
        (copy.root / "src/pkg/__init__.py").touch()
        assert copy.rewritten() == ("src/pkg/more.py",)
    with checked_out(project, MixedTree(change, frozenset(change.paths))) as copy:
        assert (copy.root / "src/pkg/__init__.py").read_text() == NEW
        assert (copy.root / "rules").exists()


@pytest.mark.parametrize("then", ["folder", "file"])
async def test_nothing_is_written_or_removed_where_a_committed_link_leads(
    project: Path, git: Git, tmp_path: Path, then: str
) -> None:
    users = tmp_path / "users"
    users.mkdir()
    (users / "test_a.py").write_text("the user's\n")
    (project / "tests").symlink_to(users)
    git(project, "add", "tests")
    git(project, "commit", "--quiet", "--message=a link")
    repository = Repository.discover(project)
    base = repository.head_tree()
    (project / "tests").unlink()
    if then == "folder":
        (project / "tests").mkdir()
        (project / "tests/test_a.py").write_text("the change's\n")
    else:
        (project / "tests").write_text("the change's\n")
    change = repository.changes(base, repository.snapshot())
    with checked_out(project, MixedTree(change, frozenset({"tests/test_a.py", "src/pkg/__init__.py"}))) as copy:
        if then == "folder":
            assert (copy.root / "tests/test_a.py").read_text() == "the change's\n"
    assert [(each.name, each.read_text()) for each in users.iterdir()] == [("test_a.py", "the user's\n")]


async def test_no_ignored_file_is_copied_where_a_committed_link_leads(project: Path, git: Git, tmp_path: Path) -> None:
    users = tmp_path / "users"
    users.mkdir()
    (project / "conf").mkdir()
    (project / "conf/my.env").write_text("KEY=1\n")
    (project / "conf/data.env").mkdir()
    noted = tuple(
        Item(f"conf/{name}", project / "conf" / name, copied=copied)
        for name, copied in ((("my.env"), True), ("data.env", False))
    )
    tree = linked_tree(project, git, "conf", users)
    with checked_out(project, tree, items=noted) as copy:
        assert (copy.root / "conf").is_symlink()
    assert list(users.iterdir()) == []


def linked_tree(project: Path, git: Git, name: str, target: Path) -> str:
    """A tree in which a link of that name leads to a place outside of the project."""
    blob = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"],
        cwd=project,
        input=str(target),
        text=True,
        capture_output=True,
        check=True,
    ).stdout.strip()
    git(project, "update-index", "--add", "--cacheinfo", f"120000,{blob},{name}")
    return git(project, "write-tree")


async def test_pythonpath_leads_into_the_copy(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(project / "src"))
    with checked_out(project, before(project)) as copy:
        assert copy.strays() is None
        assert await ran(copy) == "old"
        assert copy.strays() == ()
        line = f"PYTHONPATH={project / 'src'} {sys.executable} -c {shlex.quote(SHOW)}"
        assert await ran(copy, command=line) == "old"
        assert (
            await ran(copy, command=f"cd {project} && PYTHONPATH=src {sys.executable} -c {shlex.quote(SHOW)}") == "old"
        )


def editable(project: Path, *, finder: bool) -> str:
    """A virtual environment of the project with the package installed as editable; its Python, as a command."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(project / ".venv")], check=True)
    (site,) = (project / ".venv").glob("lib/python*/site-packages")
    if finder:  # as setuptools writes it
        table = {"pkg": str(project / "src/pkg")}
        (site / "__editable___pkg_finder.py").write_text(
            "import sys\nfrom importlib.util import spec_from_file_location\n"
            f"MAPPING = {table!r}\n\n\nclass Finder:\n    @classmethod\n"
            "    def find_spec(cls, name, path=None, target=None):\n        if name in MAPPING:\n"
            "            return spec_from_file_location(name, MAPPING[name] + '/__init__.py')\n\n\n"
            "def install():\n    sys.meta_path.append(Finder)\n"
        )
        (site / "pkg.pth").write_text("import __editable___pkg_finder; __editable___pkg_finder.install()\n")
    else:
        (site / "pkg.pth").write_text(f"{project / 'src'}\n")
    return ".venv/bin/python"


@pytest.mark.slow
@pytest.mark.parametrize("finder", [False, True])
async def test_an_editable_install_leads_into_the_copy(project: Path, *, finder: bool) -> None:
    python = editable(project, finder=finder)
    with checked_out(project, before(project)) as copy:
        for each in (python, str(project / python)):
            assert await ran(copy, command=f"{each} -c {shlex.quote(SHOW)}") == "old"
        assert copy.strays() == ()
    done = await process.run([str(project / python), "-c", SHOW], cwd=project, timeout_s=20)
    assert done.stdout.strip() == "new"  # without a copy


async def test_code_of_the_real_project_is_noticed(project: Path) -> None:
    with checked_out(project, before(project)) as copy:
        sly = f"import sys; sys.path.insert(0, {str(project / 'src')!r}); import pkg; print(pkg.VALUE)"
        line = f"{sys.executable} run.py"
        (copy.root / "run.py").write_text(sly)
        assert await ran(copy, command=line) == "new"
        assert copy.strays() == ("src/pkg/__init__.py",)


@pytest.mark.parametrize("put", ["pipe", "link", "nothing"])
async def test_what_stands_in_the_place_of_an_answer_is_not_followed(project: Path, tmp_path: Path, put: str) -> None:
    users = tmp_path / "key"
    users.write_text("SECRET\n")
    with checked_out(project, before(project)) as copy:
        assert await ran(copy, "print('old')") == "old"
        (answer,) = copy._seen.iterdir()
        answer.unlink()
        if put == "pipe":
            os.mkfifo(answer)
        elif put == "link":
            answer.symlink_to(users)
        else:
            answer.parent.rename(tmp_path / "gone")
        assert copy.strays() is None


@pytest.mark.slow
@pytest.mark.parametrize("linked", [False, True])
async def test_git_tells_of_the_project_and_writes_nothing(sandboxed: Sandboxed, git: Git, *, linked: bool) -> None:
    root = sandboxed.project
    if linked:
        git(root, "worktree", "add", "--quiet", str(root.parent / "linked"))
        root = root.parent / "linked"
    with checked_out(root, before(root), sandbox=sandboxed.sandbox) as copy:
        top = str(root if copy.in_place else copy.root)
        assert await sandboxed.ran(copy, "git rev-parse --show-toplevel") == top
        assert await sandboxed.ran(copy, "git describe --always --dirty") == git(root, "rev-parse", "--short", "HEAD")
        assert await sandboxed.ran(copy, "git commit --quiet --allow-empty --message=x || echo refused") == "refused"


async def test_the_environment_does_not_say_that_it_is_a_copy(project: Path) -> None:
    with checked_out(project, before(project)) as copy:
        assert not [name for name in copy.environment if "SWARMGATE" in name]
        assert str(project) not in "".join(copy.environment.values())


async def test_an_environment_keeps_its_own_sitecustomize(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own/sitecustomize.py").write_text("import builtins\nbuiltins.CUSTOM = 'kept'\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "own"))
    with checked_out(project, before(project)) as copy:
        assert await ran(copy, "print(CUSTOM)") == "kept"


@dataclass
class Sandboxed:
    """A project and what confines the commands in its checkouts."""

    project: Path
    sandbox: Sandbox

    async def ran(self, copy: Checkout, line: str) -> str:
        bounds = confine(copy.real, environ=os.environ)
        done = await copy.runner(CommandRunner(self.sandbox, bounds)).run(line, timeout_s=20)
        assert done.ok, done.output
        return done.stdout.strip()


@pytest.fixture(params=["bubblewrap", "landlock", "sandbox-exec"])
def sandboxed(request: pytest.FixtureRequest, project: Path) -> Sandboxed:
    try:
        return Sandboxed(project, choose(request.param))
    except MissingRequirement as error:
        pytest.skip(error.message)


@pytest.mark.slow
async def test_where_the_sandbox_can_it_stands_in_the_projects_place(sandboxed: Sandboxed) -> None:
    project = sandboxed.project
    fill(project / "ignored", data="1")
    editable(project, finder=False)
    with checked_out(project, before(project), sandbox=sandboxed.sandbox) as copy:
        assert copy.in_place is (sandboxed.sandbox.name == "bubblewrap")
        place = project if copy.in_place else copy.root
        assert await sandboxed.ran(copy, "pwd -P") == str(place)
        for python in (".venv/bin/python", str(project / ".venv/bin/python")):
            assert await sandboxed.ran(copy, f"{python} -c {shlex.quote(SHOW)}") == "old"
        assert copy.strays() == ()
        assert await sandboxed.ran(copy, f"cat {project}/src/pkg/__init__.py ignored/data") == OLD + "1"
        line = (
            "echo made > src/made && echo own > ignored/own && echo x > .venv/x; echo x > ignored/data; cat ignored/*"
        )
        assert await sandboxed.ran(copy, line) == "1own"
        assert (copy.root / "src/made").read_text() == "made\n"
    assert sorted(place.name for place in project.glob("ignored/*")) == ["data"]
    assert not (project / ".venv/x").exists()
    assert not (project / "src/made").exists()


async def test_nothing_of_the_work_tree_shines_through(sandboxed: Sandboxed) -> None:
    project = sandboxed.project
    (project / "src/pkg/extra.py").write_text("")
    (project / "src/pkg/__pycache__").mkdir()
    (project / "src/pkg/__pycache__/x.pyc").write_text("")
    with checked_out(project, before(project), items=(), sandbox=sandboxed.sandbox) as copy:
        found = await sandboxed.ran(copy, f"find {project} . -path '*/.git' -prune -o -type f -print 2>/dev/null; true")
        assert "extra" not in found
        assert "__pycache__" not in found


async def test_files_are_written_as_a_clone_has_them(sandboxed: Sandboxed, git: Git) -> None:
    project = sandboxed.project
    (project / ".gitattributes").write_text(
        "*.txt text=auto eol=lf\nid ident\n*.utf16 working-tree-encoding=UTF-16LE\n"
    )
    (project / "data.txt").write_bytes(b"a\r\nb\r\n")
    (project / "id").write_text("$Id$\n")
    (project / "x.utf16").write_bytes("ä".encode("utf-16-le"))
    tree = Repository.discover(project).snapshot()
    with checked_out(project, tree, sandbox=sandboxed.sandbox) as copy:
        assert (copy.root / "data.txt").read_bytes() == b"a\nb\n"
        assert (copy.root / "id").read_text() == f"$Id: {git(project, 'rev-parse', f'{tree}:id')} $\n"
        assert (copy.root / "x.utf16").read_bytes() == "ä".encode("utf-16-le")
        assert copy.rewritten() == ()
        await sandboxed.ran(copy, "printf 'a\\nc\\n' > data.txt; touch -r README.md data.txt; rm id; echo new > new")
        assert copy.rewritten() == ("data.txt", "id")


@pytest.mark.slow
async def test_a_submodule_is_there_at_its_commit(sandboxed: Sandboxed, git: Git, tmp_path: Path) -> None:
    project, inner = sandboxed.project, tmp_path / "inner"
    inner.mkdir()
    git(inner, "init", "--quiet")
    (inner / "lib.py").write_text("X = 1\n")
    git(inner, "add", "--all")
    git(inner, "commit", "--quiet", "--message=lib")
    git(project, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(inner), "sub")
    (project / "sub/lib.py").write_text("X = 2\n")
    tree = Repository.discover(project).snapshot()
    with checked_out(project, tree, sandbox=sandboxed.sandbox) as copy:
        assert (copy.root / "sub/lib.py").read_text() == "X = 1\n"


def fill(folder: Path, **files: str) -> None:
    folder.mkdir(parents=True)
    for name, text in files.items():
        (folder / name).write_text(text)


def test_what_git_ignores_comes_along_but_no_build_products(project: Path) -> None:
    fill(project / "ignored", data="1")
    fill(project / "dist", bundle="made of the changed code")
    fill(project / "src/pkg/__pycache__", module="cached")
    (project / "local.env").write_text("A=1")
    (project / "src/pkg/fast.so").write_text("compiled")
    with checked_out(project, before(project)) as copy:
        assert (copy.root / "ignored/data").readlink() == project / "ignored/data"
        assert (copy.root / "local.env").read_text() == "A=1"
        assert not (copy.root / "local.env").is_symlink()
        assert not (copy.root / "dist").exists()
        assert not (copy.root / "src/pkg/__pycache__").exists()
        assert copy.shared == (project / "ignored", project / ".git")
        assert copy.binaries == ("src/pkg/fast.so",)


def test_packages_of_a_node_workspace_are_the_copys_own(project: Path) -> None:
    fill(project / "packages/ours", index="new")
    packages = project / "node_modules"
    fill(packages / "left-pad", index="theirs")
    fill(packages / "@team/other", index="theirs")
    fill(packages / ".vite", cached="built")
    (packages / "ours").symlink_to("../packages/ours")
    (packages / "@team/ours").symlink_to("../../packages/ours")
    tree = Repository.discover(project).snapshot()
    (project / "packages/ours/index").write_text("newer")
    with checked_out(project, tree) as copy:
        found = copy.root / "node_modules"
        assert [(found / name / "index").read_text() for name in ("ours", "@team/ours")] == ["new", "new"]
        assert [(found / name / "index").read_text() for name in ("left-pad", "@team/other")] == ["theirs", "theirs"]
        assert not (found / ".vite").exists()


def test_composers_autoloader_lies_in_the_copy(project: Path) -> None:
    fill(project / "vendor/composer", ClassLoader="finds the project by where it lies")
    fill(project / "vendor/bin", phpunit="starts it")
    fill(project / "vendor/acme", code="theirs")
    (project / "vendor/autoload.php").write_text("<?php")
    with checked_out(project, before(project)) as copy:
        found = copy.root / "vendor"
        assert [(found / name).is_symlink() for name in ("composer", "bin", "autoload.php", "acme")] == [False] * 3 + [
            True
        ]
        assert (found / "composer/ClassLoader").resolve().is_relative_to(copy.root)


async def test_a_link_shares_nothing_that_a_command_in_the_project_could_not_read(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """An agent cannot see where a link leads that it makes; its tests must not in a copy either."""
    home, known = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("known")
    for folder in (home, known):
        (folder / "id").write_text("TOPSECRET\n")
    for name in ("node_modules/@s", "vendor/composer", "ignored"):
        (project / name).mkdir(parents=True)
    links = {
        "node_modules/x": home,
        "node_modules/@s/root": Path("/"),
        "node_modules/self": project,
        "vendor/autoload.php": home / "id",
        "vendor/bin": home,
        "a.env": home / "id",
        "node_modules/known": known,
    }
    for name, place in links.items():
        (project / name).symlink_to(place)
    os.mkfifo(project / "vendor/composer/pipe")
    (project / "ignored/data").write_text("SHARED\n")
    confined = runner(project)
    confined = replace(confined, confinement=replace(confined.confinement, readable=(known,)))
    with checked_out(project, before(project)) as copy:
        inside = copy.runner(confined)
        readable = set(inside.confinement.readable)
        assert readable & {home, home / "id", Path("/"), project} == set()
        assert {known, project / "ignored"} <= readable
        assert not [place for place in copy.root.parent.rglob("*") if place.name == "id" and not place.is_symlink()]
        assert (copy.root / "vendor/autoload.php").is_symlink()
        assert (copy.root / "vendor/bin").is_symlink()
        done = await inside.run("cat ignored/data node_modules/known/id node_modules/x/id vendor/*.php", timeout_s=60)
        assert done.stdout == "SHARED\nTOPSECRET\n"
