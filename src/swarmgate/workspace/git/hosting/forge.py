"""Recognises the forge that hosts a remote by its address, and opens pull requests there with its own program."""

from __future__ import annotations

import json
import re
import subprocess
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, urlsplit

from swarmgate.workspace.programs import trusted

if TYPE_CHECKING:
    from pathlib import Path

_SCP = re.compile(r"(?:[^@/\s]+@)?(?P<host>[A-Za-z0-9][A-Za-z0-9.-]+):(?P<path>[^/\\].*)")
"""`git@host:owner/name.git`; one letter before the colon is a drive."""
_SCHEMES = ("https", "http", "ssh", "git", "git+ssh", "ssh+git")
_KINDS = {"github": "github", "gitlab": "gitlab", "bitbucket": "bitbucket", "codeberg": "gitea", "gitea": "gitea"}
"""The first label of a host (`gitlab.example.com`) -> how its pages are addressed."""
_BESIDE = re.compile(r"(alt)?ssh\.(?=\w+\.\w+$)")
"""Hosts that take ssh where its port is closed: `ssh.github.com`, `altssh.gitlab.com`."""
_PAGES = {
    "github": "{place}/compare/{base}...{branch}?expand=1",
    "gitlab": "{place}/-/merge_requests/new?merge_request%5Bsource_branch%5D={branch}"
    "&merge_request%5Btarget_branch%5D={base}",
    "bitbucket": "{place}/pull-requests/new?source={branch}&dest={base}",
    "gitea": "{place}/compare/{base}...{branch}",
}
_PROGRAMS = {"github": "gh", "gitlab": "glab"}
_TIMEOUT_S = 120.0
_QUIET = {
    "GH_PROMPT_DISABLED": "1",
    "GH_NO_UPDATE_NOTIFIER": "1",
    "NO_PROMPT": "1",
    "GLAB_CHECK_UPDATE": "false",
    "NO_COLOR": "1",
}
_ADDRESS = re.compile(r"https?://\S+")


class Forge(NamedTuple):
    """Where a repository is hosted; `kind` is empty where the host is none that is known by its name."""

    host: str
    path: str
    kind: str

    @property
    def place(self) -> str:
        """The web address of the repository."""
        return f"https://{self.host}/{quote(self.path)}"

    def page(self, base: str, branch: str) -> str:
        """The web address at which a pull request is opened by hand; empty where that is not known."""
        form = _PAGES.get(self.kind, "")
        return form.format(place=self.place, base=quote(base, safe=""), branch=quote(branch, safe=""))


class Request(NamedTuple):
    """A pull request to be opened."""

    base: str
    branch: str
    title: str
    description: str
    draft: bool


class Opened(NamedTuple):
    """`url` of the pull request, by which `program`; `known`: it was open before. `problem` says why none is."""

    program: str = ""
    url: str = ""
    known: bool = False
    problem: str = ""


def hosting(*addresses: str) -> Forge | None:
    """The forge of the first of these addresses that names one; None for paths of this machine."""
    return next((found for each in addresses if (found := _forge(each))), None)


def _forge(address: str) -> Forge | None:
    if "://" in address:
        try:
            parts = urlsplit(address)
            host, path, port = parts.hostname or "", parts.path, parts.port
        except ValueError:
            return None
        if parts.scheme not in _SCHEMES:
            return None
        if port and parts.scheme in ("https", "http"):  # that of ssh is no port of its pages
            host = f"{host}:{port}"
    elif found := _SCP.fullmatch(address):
        host, path = found["host"].lower(), found["path"]
    else:
        return None
    host, path = _BESIDE.sub("", host), path.strip("/").removesuffix(".git")
    return Forge(host, path, _KINDS.get(host.partition(".")[0], "")) if host and path else None


def open_request(forge: Forge, request: Request, folder: Path) -> Opened:
    """Opens the pull request with the program of the forge, where it is there; one that is open stays as it is.

    The program is the user's, with their login and their rights. Of a host whose name says nothing, each program is
    asked whether it is logged in there.
    """
    for kind, name in _PROGRAMS.items():
        place = trusted.find(name, folder)
        if place is None or forge.kind not in ("", kind):
            continue
        runner = _Runner(place, folder)
        if not forge.kind and runner.run("auth", "status", "--hostname", forge.host).code:
            continue
        return (_github if kind == "github" else _gitlab)(runner, forge, request)
    return Opened()


def _github(runner: _Runner, forge: Forge, request: Request) -> Opened:
    where = ("--repo", f"{forge.host}/{forge.path}")
    listed = runner.run("pr", "list", *where, "--head", request.branch, "--state", "open", "--json", "url")
    if url := _listed(listed.stdout, "url"):
        return Opened("gh", url, known=True)
    draft = ("--draft",) if request.draft else ()
    what = ("--head", request.branch, "--base", request.base, "--title", request.title, "--body-file", "-")
    return _opened("gh", runner.run("pr", "create", *where, *what, *draft, stdin=request.description))


def _gitlab(runner: _Runner, forge: Forge, request: Request) -> Opened:
    where = ("--repo", forge.place)
    listed = runner.run("mr", "list", *where, "--source-branch", request.branch, "--output", "json")
    if url := _listed(listed.stdout, "web_url"):
        return Opened("glab", url, known=True)
    draft = ("--draft",) if request.draft else ()
    what = ("--source-branch", request.branch, "--target-branch", request.base, "--title", request.title)
    text = ("--description", request.description, "--yes")
    return _opened("glab", runner.run("mr", "create", *where, *what, *text, *draft))


class _Done(NamedTuple):
    """How a program ended; `code` is None where it did not within its time."""

    code: int | None
    stdout: str
    stderr: str


class _Runner:
    """Runs one program of the user's in their repository."""

    def __init__(self, place: str, folder: Path) -> None:
        self._place, self._folder = place, folder

    def run(self, *args: str, stdin: str = "") -> _Done:
        try:
            done = subprocess.run(
                [self._place, *args],
                cwd=self._folder,
                env={**trusted.environment(self._folder), **_QUIET},
                input=stdin.encode("utf-8", "replace"),
                capture_output=True,
                timeout=_TIMEOUT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return _Done(None, "", f"no answer within {_TIMEOUT_S:.0f} s")
        except OSError as error:
            return _Done(None, "", f"it cannot be started: {error.strerror}")
        return _Done(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


def _listed(output: str, key: str) -> str:
    """The address of the first pull request of a list; empty where it has none, or is no list."""
    try:
        found = json.loads(output)
        return str(found[0][key]) if found else ""
    except (ValueError, LookupError, TypeError):
        return ""


def _opened(program: str, done: _Done) -> Opened:
    urls = _ADDRESS.findall(done.stdout)
    if done.code == 0 and urls:
        return Opened(program, urls[-1])
    lines = [line.strip() for line in (done.stderr or done.stdout).splitlines() if line.strip()]
    return Opened(program, problem=f"{program}: {' '.join(lines[:3]) or f'exit code {done.code}'}")
