"""Measures the precision and recall of the contract analysis of the gate `diff` on real code.

python benchmarks/contracts.py mutate FOLDER... [--files N] [--seed N]   recall and false alarms, by kind and language
python benchmarks/contracts.py releases OLD NEW                          every finding between two folders, to be read
python benchmarks/contracts.py history GIT_FOLDER [--commits N]          every finding of real commits, to be read
"""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import contracts_python
import contracts_trees

from swarmgate.domain.review.change import ChangedFile, ChangeKind, ChangeSet
from swarmgate.gates.contracts import analysis
from swarmgate.gates.project.files import MAX_BYTES, Trait, language_of, traits_of
from swarmgate.gates.project.index import Project

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from swarmgate.domain.review.finding import Finding

_MODE = "100644"
_SAMPLES = 6
"""Of each kind, so many mutants of one file."""


@dataclass
class Trees:
    """Two trees in memory; the working tree is an empty folder, so that contents are asked of the trees."""

    files: dict[str, dict[str, bytes]]
    root: Path = Path("/nonexistent")

    def list_tree(self, tree: str) -> tuple[str, ...]:
        """Every path."""
        return tuple(sorted(self.files[tree]))

    def read_many(self, tree: str, wanted: Sequence[str]) -> dict[str, bytes]:
        """The contents of those that are there."""
        return {path: self.files[tree][path] for path in wanted if path in self.files[tree]}


@dataclass
class Score:
    """What was found of one kind of mutation."""

    made: int = 0
    found: int = 0
    examples: list[str] = field(default_factory=list)


def findings(old: dict[str, bytes], new: dict[str, bytes]) -> list[Finding]:
    """The contract findings between two trees."""
    files = []
    for path in sorted(old.keys() | new.keys()):
        if old.get(path) != new.get(path):
            kinds = {(True, True): ChangeKind.MODIFIED, (True, False): ChangeKind.DELETED}
            kind = kinds.get((path in old, path in new), ChangeKind.ADDED)
            files.append(
                ChangedFile(path=path, kind=kind, old_mode=_MODE * (path in old), new_mode=_MODE * (path in new))
            )
    change = ChangeSet(base="old", tree="new", files=tuple(files))
    return analysis.analyse(Project.of(Trees({"old": old, "new": new}), "old", "new"), change)[0]


def sources(folders: Sequence[Path], languages: Sequence[str]) -> Iterator[Path]:
    for folder in folders:
        for path in sorted(folder.rglob("*")) if folder.is_dir() else [folder]:
            plain = not traits_of(path.name) & {Trait.TEST, Trait.GENERATED} and not path.name.startswith(("_", "."))
            inside = path.relative_to(folder).parts if folder.is_dir() else (path.name,)
            hidden = any(part.startswith(("_", ".")) or part in _LEFT_OUT for part in inside[:-1])
            if plain and not hidden and language_of(path.name) in languages and path.is_file():
                yield path


_LEFT_OUT = {"tests", "test", "testing", "node_modules", "vendor", "dist", "idlelib", "lib2to3", "site-packages"}


def mutants(path: Path, rng: random.Random) -> Iterator[contracts_python.Mutant]:
    """At most so many of each kind."""
    by_kind: defaultdict[str, list[contracts_python.Mutant]] = defaultdict(list)
    if language_of(path.name) == "python":
        module = contracts_python.Module(path.name, path.read_text("utf-8"))
        for each in (*contracts_python.breaking(module), *contracts_python.harmless(module)):
            by_kind[each.kind].append(each)
    else:
        for each in contracts_trees.mutants(path.name, path.read_text("utf-8")):
            by_kind[each.kind].append(each)
    for every in by_kind.values():
        yield from rng.sample(every, min(_SAMPLES, len(every)))


def mutate(folders: Sequence[Path], *, files: int, seed: int, languages: Sequence[str]) -> None:
    rng = random.Random(seed)  # noqa: S311 - a sample, not a secret
    found = [path for path in sources(folders, languages) if path.stat().st_size <= MAX_BYTES // 8]
    chosen = rng.sample(found, min(files, len(found)))
    scores: defaultdict[tuple[str, bool, str], Score] = defaultdict(Score)
    started, left_out = time.monotonic(), 0
    for path in chosen:
        try:
            every = list(mutants(path, rng))
        except (SyntaxError, ValueError, RecursionError):
            left_out += 1
            continue
        old = {path.name: path.read_bytes()}
        for each in every:
            score = scores[language_of(path.name), each.breaks, each.kind]
            reported = findings(old, {name: text.encode() for name, text in each.files.items()})
            score.made += 1
            score.found += bool(reported)
            if bool(reported) != each.breaks and len(score.examples) < 5:
                score.examples.append(f"{path}: {reported[0].message if reported else 'nothing said'}")
    print(
        f"{len(chosen) - left_out} files of {len(found)}, {left_out} do not parse; {time.monotonic() - started:.0f} s"
    )
    table(scores)


def table(scores: dict[tuple[str, bool, str], Score]) -> None:
    total: defaultdict[tuple[str, bool], list[int]] = defaultdict(lambda: [0, 0])
    for (language, breaks, kind), score in sorted(scores.items()):
        total[language, breaks][0] += score.made
        total[language, breaks][1] += score.found
        what = "recall" if breaks else "alarms"
        print(f"{language:11} {what} {kind:28} {score.found:6} of {score.made:6}  {score.found / score.made:.3f}")
        for example in score.examples:
            print(f"    {example[:220]}")
    for (language, breaks), (made, found) in sorted(total.items()):
        print(f"{language:11} {'breaking' if breaks else 'harmless'}: {found} of {made} reported ({found / made:.4f})")


def releases(old: Path, new: Path) -> None:
    sides = [
        {str(path.relative_to(root)): path.read_bytes() for path in sources([root], _LANGUAGES)} for root in (old, new)
    ]
    reported = findings(*sides)
    for each in reported:
        print(f"{each.severity.value:5} {each.rule:34} {each.place}: {each.message}")
    print(f"{len(reported)} findings", dict(Counter(each.rule for each in reported)))


def history(repository: Path, *, commits: int) -> None:
    """Real commits, whose code worked for its authors: a user said to be broken there is likely a false alarm."""
    git = GitTrees(repository)
    by_rule: Counter[str] = Counter()
    started, judged = time.monotonic(), 0
    for line in git.run("log", "--no-merges", "--first-parent", f"-{commits}", "--format=%H %P").decode().splitlines():
        commit, _, parent = line.partition(" ")
        if not parent:
            continue
        judged += 1
        change = ChangeSet(
            base=f"{parent}^{{tree}}", tree=f"{commit}^{{tree}}", files=tuple(git.changes(parent, commit))
        )
        reported = analysis.analyse(Project.of(git, change.base, change.tree), change)[0]
        by_rule.update(each.rule for each in reported)
        for each in reported:
            print(f"{commit[:9]} {each.severity.value:5} {each.rule:34} {each.place}: {each.message[:260]}")
    print(f"{judged} commits, {time.monotonic() - started:.0f} s, {dict(by_rule)}")


@dataclass
class GitTrees:
    """The trees of a repository without a work tree; each blob is read once."""

    folder: Path
    root: Path = Path("/nonexistent")
    blobs: dict[str, bytes] = field(default_factory=dict)
    listed: dict[str, dict[str, str]] = field(default_factory=dict)

    def run(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """What a git command prints."""
        return subprocess.run(
            ["git", "--git-dir", str(self.folder), *arguments], input=stdin, capture_output=True, check=True
        ).stdout  # fmt: skip

    def _list(self, tree: str) -> dict[str, str]:
        if tree not in self.listed:
            self.listed.clear()
            rows = (
                row.split("\t") for row in self.run("ls-tree", "-r", "-z", tree).decode("utf-8", "replace").split("\0")
            )
            self.listed[tree] = {row[1]: row[0].split()[2] for row in rows if len(row) == 2}
        return self.listed[tree]

    def list_tree(self, tree: str) -> tuple[str, ...]:
        """Every path."""
        return tuple(self._list(tree))

    def read_many(self, tree: str, wanted: Sequence[str]) -> dict[str, bytes]:
        """The contents of those that are there."""
        ids = {path: self._list(tree)[path] for path in wanted if path in self._list(tree)}
        missing = sorted(set(ids.values()) - self.blobs.keys())
        out = self.run("cat-file", "--batch", stdin="\n".join(missing).encode()) if missing else b""
        place = 0
        for blob in missing:
            end = out.index(b"\n", place)
            header = out[place:end].split()
            if len(header) < 3:
                place = end + 1
                continue
            size = int(header[2])
            self.blobs[blob] = out[end + 1 : end + 1 + size]
            place = end + size + 2
        return {path: self.blobs[blob] for path, blob in ids.items() if blob in self.blobs}

    def changes(self, old: str, new: str) -> Iterator[ChangedFile]:
        """What differs between two commits."""
        rows = self.run("diff", "--raw", "-M", "-z", "--no-abbrev", old, new).decode("utf-8", "replace").split("\0")
        index = 0
        while index + 1 < len(rows):
            before, after, _, _, status = rows[index].lstrip(":").split()
            path, index = rows[index + 1], index + 2
            source = path
            if status[0] in "RC":
                path, index = rows[index], index + 1
            kinds = {"A": ChangeKind.ADDED, "D": ChangeKind.DELETED, "R": ChangeKind.RENAMED}
            renamed = source if status[0] == "R" else ""
            none = "000000"
            yield ChangedFile(
                path=path, kind=kinds.get(status[0], ChangeKind.MODIFIED), old_path=renamed,
                old_mode="" if before == none or status[0] == "C" else before, new_mode="" if after == none else after,
            )  # fmt: skip


_LANGUAGES = ("python", "javascript", "typescript", "go", "rust", "java")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("mutate")
    one.add_argument("folders", nargs="+", type=Path)
    one.add_argument("--files", type=int, default=100)
    one.add_argument("--seed", type=int, default=0)
    one.add_argument("--language", action="append", choices=_LANGUAGES)
    two = verbs.add_parser("releases")
    two.add_argument("old", type=Path)
    two.add_argument("new", type=Path)
    three = verbs.add_parser("history")
    three.add_argument("repository", type=Path)
    three.add_argument("--commits", type=int, default=200)
    options = parser.parse_args()
    if options.verb == "history":
        history(options.repository, commits=options.commits)
    elif options.verb == "releases":
        releases(options.old, options.new)
    else:
        mutate(options.folders, files=options.files, seed=options.seed, languages=options.language or _LANGUAGES)
    return 0


if __name__ == "__main__":
    sys.exit(main())
