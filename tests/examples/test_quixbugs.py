"""`examples/eval/quixbugs.jsonl`: what the script makes of the corpus, and nothing in it that gives the label away."""

from __future__ import annotations

import ast
import importlib.util
from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest

from swarmgate.evaluation.debate.fixtures import Item, load

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "examples/eval"
CORPUS = ROOT.parent / "shared/corpora/quixbugs.jsonl"


def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_quixbugs", FOLDER / "make_quixbugs.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def by_program() -> dict[str, dict[str, Item]]:
    found: dict[str, dict[str, Item]] = {}
    for item in load(FOLDER / "quixbugs.jsonl").items:
        found.setdefault(item.id.rpartition(".")[0], {})[item.label] = item
    return found


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not on this machine")
def test_the_file_is_what_the_script_makes() -> None:
    assert script().made(CORPUS) == (FOLDER / "quixbugs.jsonl").read_text("utf-8")


def test_a_call_without_a_corpus_is_told_how(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.argv", ["make_quixbugs.py"])
    assert script().main() == 2
    assert "usage:" in capsys.readouterr().err


def test_forty_programs_each_buggy_and_correct() -> None:
    found = load(FOLDER / "quixbugs.jsonl")
    assert found.warnings == ()
    assert len(found.items) == 80
    assert len(by_program()) == 40
    assert all(set(sides) == {"good", "bad"} for sides in by_program().values())


def test_both_sides_say_the_same_but_for_the_code_under_one_name() -> None:
    for name, sides in by_program().items():
        good, bad = sides["good"], sides["bad"]
        assert good.context == bad.context, name
        assert good.text != bad.text, name
        assert functions(good.text) == functions(bad.text), name
        assert name in functions(good.text), name


def functions(text: str) -> list[str]:
    return [node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.ClassDef)]


def test_no_docstring_comment_or_layout_is_left() -> None:
    for sides in by_program().values():
        for item in sides.values():
            assert ast.unparse(ast.parse(item.text)) == item.text, item.id
            assert not any(
                isinstance(node, ast.Expr)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
                for node in ast.walk(ast.parse(item.text))
            ), item.id


def test_reasons_show_the_lines_that_differ() -> None:
    for sides in by_program().values():
        bad, good = sides["bad"], sides["good"]
        shown = Counter(line[1:] for line in bad.reason.splitlines() if line.startswith("-"))
        mended = Counter(line[1:] for line in bad.reason.splitlines() if line.startswith("+"))
        assert shown or mended, bad.id
        lines = Counter(bad.text.splitlines())
        lines.subtract(shown)
        lines.update(mended)
        assert lines == Counter(good.text.splitlines()), bad.id


def test_the_licence_of_the_corpus_stands_beside_it() -> None:
    text = (FOLDER / "README.md").read_text("utf-8")
    assert "jkoppel/QuixBugs" in text
    assert "MIT License" in text
    assert "Permission is hereby granted, free of charge" in text
