"""Policy rules about git: reading is allowed; changing history, index, branches or settings is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.workspace.command_policy.model import UNKNOWN, Simple, Word
from swarmgate.workspace.command_policy.path_zones import Grounds, Zone
from swarmgate.workspace.command_policy.verdict import Reason

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

_READING = frozenset({
    "status", "log", "diff", "show", "blame", "annotate", "grep", "ls-files", "ls-tree", "rev-parse", "rev-list",
    "cat-file", "describe", "shortlog", "whatchanged", "name-rev", "merge-base", "check-ignore", "check-attr",
    "check-ref-format", "diff-tree", "diff-files", "diff-index", "for-each-ref", "show-ref", "count-objects", "help",
    "version", "var", "cherry", "range-diff", "ls-remote", "fsck", "verify-commit", "verify-tag", "patch-id",
    "merge-tree", "show-branch", "archive", "format-patch", "get-tar-commit-id", "interpret-trailers", "stripspace",
    "column", "check-mailmap", "",
})  # fmt: skip

_KIND = {
    "push": "git-remote", "fetch": "git-remote", "pull": "git-remote", "clone": "git-remote", "remote": "git-remote",
    "submodule": "git-remote", "send-email": "git-remote", "add": "git-index", "stage": "git-index", "rm": "git-index",
    "mv": "git-index", "update-index": "git-index", "read-tree": "git-index", "config": "git-config",
    "checkout": "git-discard", "switch": "git-discard", "restore": "git-discard", "reset": "git-discard",
    "clean": "git-discard", "stash": "git-discard", "checkout-index": "git-discard", "worktree": "git-discard",
    "sparse-checkout": "git-discard",
}  # fmt: skip

_INSTEAD = {
    "git-remote": "swarmgate works with what is here; the user pushes and fetches.",
    "git-index": "Nothing has to be staged: swarmgate takes the files as they are. "
    "To move or delete one, use mv, rm or delete_file.",
    "git-config": "Read settings with `git config --get`; the user sets them.",
    "git-discard": "Put back what you changed by editing the file; `git show HEAD:PATH > PATH` writes the committed "
    "version of one.",
    "git-history": "swarmgate commits a change when it has passed; look at the history with git log and git show.",
}
_WHY = {
    "git-remote": "other repositories are not an agent's",
    "git-index": "the index is not an agent's to write, and .git is read-only",
    "git-config": "git's settings are not an agent's to change",
    "git-discard": "it throws work away or changes what is checked out",
    "git-history": "history, branches and tags belong to swarmgate",
}

_VALUED = ("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--exec-path", "--super-prefix", "--config-env",
           "--attr-source")  # fmt: skip


def reasons(simple: Simple, grounds: Grounds) -> Iterator[Reason]:
    """Yields the reasons to refuse a git command."""
    if simple.program not in {"git", "hub", "jj", "sl"} and not simple.program.startswith("git-"):
        return
    verb, rest, cwd, elsewhere = _parsed(simple)
    if verb == UNKNOWN or UNKNOWN in verb:
        yield Reason("git-history", str(simple), "its verb is known only when it runs", "Write the verb out.")
        return
    if (
        verb not in {"push", "send-email"}
        and not elsewhere
        and _temporary(cwd, rest if verb in {"clone", "init"} else (), grounds)
    ):
        return
    if verb in _READING or (verb in _SOMETIMES and _SOMETIMES[verb](rest)):
        return
    if grounds.own_history and not elsewhere and verb in _KEEPING and _KEEPING[verb](rest):
        return
    kind = _KIND.get(verb, "git-history")
    yield Reason(kind, str(simple), f"`git {verb}`: {_WHY[kind]}", _INSTEAD[kind])


def _parsed(simple: Simple) -> tuple[str, tuple[str, ...], str, bool]:
    """The verb, what follows it, the folder, and whether another git folder is named."""
    if simple.program.startswith("git-"):
        return simple.program.removeprefix("git-"), simple.texts, simple.cwd, False
    from swarmgate.workspace.command_policy.builtins import joined  # noqa: PLC0415 - only here

    texts, cwd, index = simple.texts, simple.cwd, 0
    elsewhere = any(name in {"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"} for name, _ in simple.assigned)
    while index < len(texts) and texts[index].startswith("-"):
        if texts[index] == "-C" and index + 1 < len(texts):
            cwd = joined(cwd, texts[index + 1])
        elsewhere |= texts[index].startswith(("--git-dir", "--work-tree"))
        if texts[index] in {"--version", "--help", "-v", "-h"}:
            return "version", (), cwd, False
        index += 2 if texts[index] in _VALUED else 1
    return (texts[index] if index < len(texts) else ""), texts[index + 1 :], cwd, elsewhere


def _temporary(cwd: str, places: Sequence[str], grounds: Grounds) -> bool:
    """Whether git works on a repository in a temporary folder, such as one that a test makes."""
    plain = [text for text in places if not text.startswith("-")]
    where = Word(plain[-1]) if plain and "://" not in plain[-1] else Word(".")
    return bool(cwd) and grounds.zone(where, cwd) == Zone.TEMPORARY


def _flags_only(*allowed: str) -> Callable[[Sequence[str]], bool]:
    """A judge of verbs that only read when they get nothing but these options."""
    return lambda rest: all(text.startswith("-") and text.partition("=")[0] in allowed for text in rest)


def _branch(rest: Sequence[str]) -> bool:
    listing = {
        "--list",
        "-l",
        "--contains",
        "--no-contains",
        "--merged",
        "--no-merged",
        "--points-at",
        "--show-current",
    }
    return _changes_nothing(
        rest, "dDmMcCfut", ("--delete", "--move", "--copy", "--force", "--edit", "--set-up", "--unset")
    ) and (bool(listing & set(rest)) or all(text.startswith("-") for text in rest))


def _tag(rest: Sequence[str]) -> bool:
    listing = {"--list", "-l", "--contains", "--points-at", "-n", "--merged", "--sort"}
    names = {text.partition("=")[0] for text in rest}
    return _changes_nothing(rest, "dfasum", ("--delete", "--force", "--annotate", "--sign")) and (
        bool(listing & names) or all(text.startswith("-") for text in rest)
    )


def _changes_nothing(rest: Sequence[str], letters: str, long: Sequence[str]) -> bool:
    for text in rest:
        if text.startswith("--"):
            if text.startswith(tuple(long)):
                return False
        elif text.startswith("-") and set(text[1:]) & set(letters):
            return False
    return True


def _config(rest: Sequence[str]) -> bool:
    reading = {"--get", "--get-all", "--get-regexp", "--get-urlmatch", "-l", "--list", "--get-color", "list", "get"}
    changing = {"--unset", "--unset-all", "--add", "--replace-all", "--edit", "-e", "--rename-section",
                "--remove-section", "set", "unset", "edit", "rename-section", "remove-section"}  # fmt: skip
    if changing & set(rest):
        return False
    return bool(reading & set(rest)) or len([text for text in rest if not text.startswith("-")]) <= 1


def _first(*allowed: str) -> Callable[[Sequence[str]], bool]:
    return lambda rest: (rest[0] if rest else "") in allowed


def _apply(rest: Sequence[str]) -> bool:
    return not {"--index", "--cached", "-3", "--3way", "--unsafe-paths"} & set(rest)


_SOMETIMES: dict[str, Callable[[Sequence[str]], bool]] = {
    "branch": _branch,
    "tag": _tag,
    "config": _config,
    "remote": _first("", "-v", "--verbose", "show", "get-url"),
    "stash": _first("list", "show"),
    "worktree": _first("list"),
    "reflog": lambda rest: (rest[0] if rest else "") not in {"expire", "delete", "drop", "write"},
    "submodule": _first("", "status", "summary"),
    "notes": _first("", "list", "show"),
    "bisect": _first("log", "view", "visualize"),
    "lfs": _first("ls-files", "status", "env", "version"),
    "hash-object": lambda rest: "-w" not in rest,
    "apply": _apply,
    "symbolic-ref": lambda rest: len([text for text in rest if not text.startswith("-")]) <= 1 and "-d" not in rest,
    "bundle": _first("verify", "list-heads"),
    "clean": lambda rest: any(
        text == "--dry-run" or (text[:1] == "-" and text[1:2] != "-" and "n" in text) for text in rest
    ),
    "add": lambda rest: bool({"-n", "--dry-run"} & set(rest)),
    "gc": _flags_only("--help"),
    "multi-pack-index": _first("verify"),
    "commit-graph": _first("verify"),
    "replace": _first("-l", "--list"),
    "maintenance": _flags_only("--help"),
}
"""Verbs that read in some forms; each judge tells whether this is one."""


def _without(*refused: str) -> Callable[[Sequence[str]], bool]:
    """A judge of verbs that keep what is there unless they get one of these options, letters of others included."""
    letters = {each[1] for each in refused if len(each) == 2}  # noqa: PLR2004 - a dash and a letter
    long = tuple(each for each in refused if each.startswith("--"))

    def keeps(rest: Sequence[str]) -> bool:
        for text in rest:
            if UNKNOWN in text or text.startswith(long or UNKNOWN):
                return False
            if text.startswith("-") and not text.startswith("--") and set(text[1:].partition("=")[0]) & letters:
                return False
        return True

    return keeps


def _push(rest: Sequence[str]) -> bool:
    places = [text for text in rest if not text.startswith("-")]
    plain = _without(
        "-f", "-d", "--force", "--mirror", "--delete", "--prune", "--no-verify", "--exec", "--receive-pack"
    )
    return plain(rest) and not any(text.startswith(("+", ":")) for text in places)


_KEEPING: dict[str, Callable[[Sequence[str]], bool]] = {
    "add": lambda _: True,
    "stage": lambda _: True,
    "mv": _without("-f", "--force"),
    "commit": _without("-n", "--no-verify"),
    "fetch": _without("-f", "--force", "-p", "--prune", "--upload-pack"),
    "pull": _without("-f", "--force", "--upload-pack", "--autostash"),
    "push": _push,
    "switch": _without("-f", "-C", "--force", "--discard-changes"),
    "checkout": lambda rest: rest[:1] == ("-b",) and _without("-f", "-B", "--force")(rest) and "--" not in rest,
    "branch": _without("-D", "-d", "-f", "-M", "-C", "--delete", "--force"),
    "tag": _without("-d", "-f", "--delete", "--force"),
    "merge": _without("--no-verify"),
    "rebase": _without("-x", "--exec", "--no-verify", "--autostash"),
    "cherry-pick": lambda _: True,
    "revert": lambda _: True,
    "reset": _without("--hard", "--merge", "--keep"),
    "restore": lambda rest: "--staged" in rest and not {"--worktree", "-W"} & set(rest),
    "stash": lambda rest: (rest[0] if rest else "push") in {"push", "save", "apply", "pop", "branch"},
    "worktree": _first("add"),
    "init": lambda _: True,
    "clone": _without("-c", "-u", "--config", "--upload-pack", "--template"),
}
"""Verbs of somebody who makes the history, and when they throw nothing away that git could not bring back."""
