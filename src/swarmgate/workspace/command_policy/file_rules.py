"""Policy rules about files: which deletions and writes of a command are refused."""

from __future__ import annotations

import fnmatch
import posixpath
import re
from typing import TYPE_CHECKING

from swarmgate.workspace.command_policy.model import UNKNOWN, Simple, Word
from swarmgate.workspace.command_policy.path_zones import Grounds, Zone, folded, paths
from swarmgate.workspace.command_policy.verdict import Reason
from swarmgate.workspace.command_policy.wrappers import EMPTY

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_ARTEFACTS = (
    "__pycache__", "*.py[cod]", "*.pyc*", "*.pyo", "*.egg-info", "*.egg", "*.dist-info", "build", "dist", "target",
    "out",
    "obj", "node_modules", "bower_components", ".venv", "venv", "env", "pip-wheel-metadata",
    ".*_cache", "*.cache", ".cache", ".tox", ".nox", ".eggs", ".hypothesis", ".coverage", ".coverage.*", "coverage*",
    "htmlcov", ".nyc_output", "lcov*", "test-results", "playwright-report", "junit*.xml", "*.log", "logs", "log",
    "*.tmp",
    "*.temp", "*.bak", "*.orig", "*.rej", "*.swp", "*~", "#*#", ".DS_Store", "*.o", "*.a", "*.so", "*.dylib", "*.dll",
    "*.obj", "*.class", "*.jar", "*.gch", "*.whl", "*.tgz", "*.tar.gz", "*.zip", "*.gcda", "*.gcno", "*.prof",
    "*.tsbuildinfo",
    ".next", ".nuxt", ".output", ".svelte-kit", ".turbo", ".parcel-cache", ".vite", ".angular", ".gradle", ".terraform",
    ".serverless", ".docusaurus", ".ipynb_checkpoints", ".pytest_cache", "_build", "site", "cmake-build-*",
    "CMakeFiles",
    "CMakeCache.txt", "tmp", "temp", ".tmp", "tmp[-_]*", "temp[-_]*", "*[-_]tmp", "scratch*", "output", "*-output",
    "*.out",
    "storybook-static", "DerivedData", ".build", "_site", "generated", ".sass-cache", ".dart_tool",
    ".mypy_cache", "mutants", ".stryker-tmp", ".benchmarks", EMPTY,
)  # fmt: skip
"""Names of what tools write and anyone may delete."""

_FILE = re.compile(
    r".+\.(?:py|pyi|js|mjs|cjs|jsx|ts|tsx|json|jsonl|md|rst|txt|csv|tsv|toml|ya?ml|ini|cfg|c|h|cc|cpp|hpp|rs|go|java|kt|rb|php|sh|"
    r"sql|db|sqlite3?|html|css|scss|xml|lock|patch|diff|png|jpe?g|gif|svg|pdf|ipynb|proto|swift|lua|pl|ex|exs|cs|vue|snap)"
)
_NOT_ALL = "Name the files and folders that you mean, with paths inside of the repository."
_ASK = "If it has to go, delete its files one by one with delete_file, or have it declared in the scope."
GUARDED_WRITE = "guarded-write"
"""The one rule that no `[commands] allow` lifts."""


def reasons(simple: Simple, grounds: Grounds) -> Iterator[Reason]:
    """Yields the reasons to refuse a command because of the files that it deletes or writes."""
    yield from _deleting(simple, grounds)
    for word in (*_written(simple), *(each.target for each in simple.redirects if each.writes)):
        yield from _write(simple, word, grounds)


def _reason(rule: str, simple: Simple, why: str, instead: str) -> Reason:
    return Reason(rule, str(simple), why, instead)


# --- deleting ---


def _deleting(simple: Simple, grounds: Grounds) -> Iterator[Reason]:
    name = simple.program
    words = simple.words[1:]
    if name in {"rm", "rmdir", "shred", "unlink", "rimraf", "trash", "del-cli", "srm"}:
        recursive = name in {"rimraf", "trash", "del-cli"} or _has(simple, "rRd", "--recursive")
        for word in paths(words, "-n --iterations -s --size" if name == "shred" else ""):
            yield from _deleted(simple, word, grounds, recursive=recursive)
    elif name in {"find", "gfind"} and "-delete" in simple.texts:
        from swarmgate.workspace.command_policy.wrappers import listed_by_find  # noqa: PLC0415 - only here

        for word in listed_by_find(words):
            yield from _deleted(simple, word, grounds, recursive=True)
    elif name in {"mv", "gmv"}:
        yield from _moved(simple, paths(words, "-t --target-directory -S --suffix"), grounds)
    elif name == "rsync" and any(
        text.startswith("--delete") or text == "--remove-source-files" for text in simple.texts
    ):
        for word in paths(words)[-1:]:
            yield from _deleted(simple, word, grounds, recursive=True)


def _has(simple: Simple, letters: str, *long: str) -> bool:
    """Whether the command has an option of these letters, or one of the long ones."""
    for text in simple.texts:
        if text.startswith("--"):
            if any(each.startswith(text.partition("=")[0]) and len(text) > 3 for each in long):  # noqa: PLR2004 - `--r` is the shortest
                return True
        elif text.startswith("-") and set(text[1:]) & set(letters):
            return True
    return False


def _moved(simple: Simple, words: Sequence[Word], grounds: Grounds) -> Iterator[Reason]:
    """Moving something out of the repository takes it away as deleting does."""
    if len(words) < 2:  # noqa: PLR2004 - from, to
        return
    goes = grounds.zone(words[-1], simple.cwd) not in {Zone.INSIDE, Zone.GUARDED}
    for word in words[:-1]:
        zone = grounds.zone(word, simple.cwd)
        if zone in {Zone.GUARDED, Zone.OUTSIDE, Zone.DEVICE} or (goes and zone == Zone.INSIDE):
            yield from _deleted(simple, word, grounds, recursive=True)


def _deleted(simple: Simple, word: Word, grounds: Grounds, *, recursive: bool) -> Iterator[Reason]:
    zone = grounds.zone(word, simple.cwd)
    recursive = recursive or "**" in word.text
    match zone:
        case Zone.GUARDED:
            yield _guarded(simple, word)
        case Zone.OUTSIDE | Zone.DEVICE | Zone.STREAM:
            yield _reason("delete-outside", simple, f"{word} lies {zone}", _NOT_ALL)
        case Zone.UNKNOWN:
            yield _reason("delete-unknown", simple, f"what `{word}` stands for is known only when it runs", _NOT_ALL)
        case _ if word.dynamic and (recursive or (word.text.endswith(UNKNOWN) and not _artefact(word.text))):
            yield _reason("delete-unknown", simple, f"what `{word}` stands for is known only when it runs", _NOT_ALL)
        case Zone.INSIDE:
            yield from _deleted_inside(simple, word, grounds, recursive=recursive)


def _deleted_inside(simple: Simple, word: Word, grounds: Grounds, *, recursive: bool) -> Iterator[Reason]:
    place = grounds.relative(word, simple.cwd)
    if place == "." or set(place) <= set("*./?") or place in {".*", ".[!.]*", ".??*"}:
        if recursive or "*" in place:
            yield _reason("delete-all", simple, f"{word} is the whole repository", _NOT_ALL)
        return
    if not recursive or _artefact(place) or _in_scope(place, grounds):
        return
    if _FILE.fullmatch(posixpath.basename(place)) and "*" not in posixpath.basename(place):
        return
    yield _reason("delete-source", simple, f"{word} is a folder of sources that the task does not name", _ASK)


def _artefact(place: str) -> bool:
    """Whether a path names, or lies in, something that tools write."""
    return any(fnmatch.fnmatchcase(part, pattern) for part in place.split("/") for pattern in _ARTEFACTS)


def _in_scope(place: str, grounds: Grounds) -> bool:
    return any(place == each or place.startswith(each.rstrip("/") + "/") for each in grounds.scope)


# --- writing ---


def _write(simple: Simple, word: Word, grounds: Grounds) -> Iterator[Reason]:
    zone = grounds.zone(word, simple.cwd)
    if zone == Zone.GUARDED:
        yield _guarded(simple, word)
    elif zone == Zone.DEVICE:
        yield _reason("device", simple, f"{word} is a device", "Write into a file of the repository.")
    elif zone == Zone.OUTSIDE:
        yield _reason(
            "write-outside", simple, f"{word} lies outside of the repository",
            "Write inside of the repository, or into /tmp.",
        )  # fmt: skip


def _guarded(simple: Simple, word: Word) -> Reason:
    return _reason(
        GUARDED_WRITE, simple, f"{word} belongs to git or to swarmgate",
        "Leave .git and .swarm alone: swarmgate commits what you change.",
    )  # fmt: skip


def _written(simple: Simple) -> Iterator[Word]:
    """The paths that a command writes, by its program."""
    name, words = simple.program, simple.words[1:]
    if name in _ALL_PATHS:
        yield from paths(words, _ALL_PATHS[name])[_SKIP.get(name, 0) :]
    elif name in {"cp", "gcp", "mv", "gmv", "ln", "gln", "install", "ginstall", "rsync", "ditto", "link"}:
        yield from _targets(simple)
    elif name in {"sed", "gsed"} and _in_place(simple):
        yield from paths(words, "-e -f --expression --file -l")[0 if _has_code(simple) else 1 :]
    elif name in {"sed", "gsed"}:
        yield from (Word(found[1]) for text in simple.texts for found in _SED_WRITES.finditer(text))
    elif name in {"split", "csplit", "xxd"}:
        yield from paths(words, "-l -b -n -a -C -s -c -o -f")[1:]
    elif name in {"perl", "ruby"} and any(re.match(r"-[a-zA-Z0-9]*i", text) for text in simple.texts):
        yield from paths(words, "-e -E")
    elif name in {"dd", "gdd"}:
        yield from (Word(text[3:]) for text in simple.texts if text.startswith("of="))
    yield from _by_option(name, words)


_ALL_PATHS = {
    "tee": "", "touch": "-d -r -t --date --reference", "mkdir": "-m --mode", "mkfifo": "-m", "mknod": "-m",
    "truncate": "-s --size -r --reference", "chmod": "--reference", "chown": "--from --reference", "chgrp": "",
    "chattr": "", "setfacl": "-m -x", "sponge": "", "ed": "", "ex": "-c", "rmdir": "", "fallocate": "-l -o",
    "gtouch": "", "gtee": "", "xattr": "-w -d", "gtruncate": "-s", "gmkdir": "-m",
}  # fmt: skip
_SKIP = {"chmod": 1, "chown": 1, "chgrp": 1, "chattr": 1}
_OPTIONS = {
    "curl": "-o --output", "wget": "-O --output-document -P --directory-prefix -o --output-file",
    "tar": "-C --directory",
    "unzip": "-d", "sort": "-o --output", "gcc": "-o", "g++": "-o", "cc": "-o", "clang": "-o", "go": "-o",
    "rustc": "-o",
    "git": "-o --output", "jq": "", "pandoc": "-o --output", "gunzip": "", "split": "",
    "patch": "-o --output -d --directory",
    "bsdtar": "-C", "7z": "-o", "openssl": "-out", "ssh-keygen": "-f", "pip": "-t --target --prefix --root",
    "cpio": "-D", "base64": "-o --output", "xxd": "", "awk": "", "npm": "--prefix", "script": "", "strace": "-o",
}  # fmt: skip


def _by_option(name: str, words: Sequence[Word]) -> Iterator[Word]:
    options = _OPTIONS.get(name, "").split()
    for index, word in enumerate(words):
        head, equals, value = word.text.partition("=")
        if head in options and equals:
            yield Word(value)
        elif word.text in options and index + 1 < len(words):
            yield words[index + 1]
        elif name in _ATTACHED and word.text[:2] in options and word.text[:2] != "--" and word.text[2:]:
            yield Word(word.text[2:])


_ATTACHED = frozenset({"tar", "curl", "sort", "gcc", "wget"})
"""Programs whose short options may hold their value."""


def _targets(simple: Simple) -> list[Word]:
    """Where `cp` and its kin write; a link counts where it points to, for what is later written through it."""
    name, words = simple.program, simple.words[1:]
    by_option = [
        words[index + 1] for index, word in enumerate(words[:-1]) if word.text in {"-t", "--target-directory"}
    ] + [Word(word.text.partition("=")[2]) for word in words if word.text.startswith("--target-directory=")]
    plain = paths(
        words, "-t --target-directory -S --suffix -m --mode -o --owner -g --group -e --rsh --exclude --include"
    )
    if name in {"install", "ginstall"} and _has(simple, "d", "--directory"):
        return plain
    found = by_option or plain[-1:]
    if name in {"ln", "gln", "link"}:
        return found + [word for word in plain[:-1] if _reaches_guarded(word)]
    return [] if name == "rsync" and found and ":" in found[0].text else found


def _reaches_guarded(word: Word) -> bool:
    return any(folded(part) in {".git", ".swarm"} for part in word.text.split("/"))


_SED_WRITES = re.compile(r"(?:^|[;{}/\d$gp]\s*)[wW]\s+(\S+)")
"""Sed's `w FILE`, as a command and as a flag."""


def _in_place(simple: Simple) -> bool:
    return any(
        text.startswith("--in-place") or (re.match(r"-[nEsrzu]*[iI]", text) is not None) for text in simple.texts
    )


def _has_code(simple: Simple) -> bool:
    return any(text.startswith(("-e", "--expression", "-f", "--file")) for text in simple.texts)
