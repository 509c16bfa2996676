from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest
from tests.project import Project

from swarmgate.errors import LedgerWriteFailed, NotAProject, NotFound, UsageError
from swarmgate.server.repositories.repositories import Repositories

ADA = "user:ada"


def test_a_folder_is_registered_once_by_the_top_of_its_work_tree(tmp_path: Path, project: Project) -> None:
    repositories = Repositories(tmp_path)
    made = repositories.register(project.root / "src", by=ADA)
    assert (made.id, made.name, made.kind, made.source, made.by) == (
        "project",
        "project",
        "path",
        str(project.root),
        ADA,
    )
    assert repositories.register(str(project.root), name="Another", by="user:bo") == made
    assert Repositories(tmp_path).list() == (made,)
    assert repositories.get("project") == made


def test_an_address_is_registered_without_being_asked(tmp_path: Path) -> None:
    repositories = Repositories(tmp_path, resolve=lambda _host, _port: ("93.184.216.34",))
    made = repositories.register("git@example.org:team/App.git", base="main", by=ADA)
    assert (made.id, made.name, made.kind, made.source) == ("app", "App", "url", "ssh://git@example.org/team/App.git")
    assert made.base == "main"
    assert repositories.register("https://example.org/App", by=ADA).id == "app-2"
    with pytest.raises(UsageError, match="no public address"):
        Repositories(tmp_path, resolve=lambda _host, _port: ("169.254.169.254",)).address(made)


@pytest.mark.parametrize("slug", ["..", "a/b", "A", "-x", "", "x" * 65])
def test_an_id_is_a_slug(tmp_path: Path, project: Project, slug: str) -> None:
    repositories = Repositories(tmp_path)
    if slug:
        with pytest.raises(UsageError):
            repositories.register(project.root, id=slug, by=ADA)
    else:
        assert repositories.register(project.root, id=slug, by=ADA).id == "project"


def test_what_is_no_repository_is_refused(tmp_path: Path) -> None:
    repositories = Repositories(tmp_path)
    for source, error in ((tmp_path, NotAProject), (tmp_path / "none", UsageError), ("relative", UsageError)):
        with pytest.raises(error):
            repositories.register(source, by=ADA)
    with pytest.raises(UsageError, match="no name of a branch"):
        repositories.register("https://example.org/a", base="--upload-pack=x", by=ADA)


def test_it_is_changed_and_forgotten(tmp_path: Path, project: Project) -> None:
    repositories = Repositories(tmp_path)
    made = repositories.register(project.root, id="calc", by=ADA)
    assert repositories.change("calc", name=" Sums  of parts ", base="main").name == "Sums of parts"
    assert repositories.get("calc").base == "main"
    assert repositories.change("calc", base="").base == ""
    with pytest.raises(UsageError):
        repositories.change("calc", name=" ")
    assert repositories.remove("calc").source == made.source
    assert project.root.is_dir()
    for call in (repositories.get, repositories.remove):
        with pytest.raises(NotFound):
            call("calc")


def test_threads_register_at_once_and_each_gets_an_id_of_its_own(tmp_path: Path) -> None:
    repositories = Repositories(tmp_path, resolve=lambda _host, _port: ("93.184.216.34",))
    threads = [
        threading.Thread(target=repositories.register, args=(f"https://example.org/{at}/app",), kwargs={"by": ADA})
        for at in range(8)
    ]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len({each.id for each in repositories.list()}) == 8


@pytest.mark.skipif(os.getuid() == 0, reason="root writes everywhere")
def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    with pytest.raises(LedgerWriteFailed):
        Repositories(tmp_path).list()
