"""Tests the syntax check of data files: errors with their place, valid oddities, nothing fetched."""

from __future__ import annotations

import sys
import time

import pytest

from swarmgate.gates.project.files import language_of
from swarmgate.gates.syntax import documents


def check(path: str, content: str | bytes) -> object:
    return documents.check(language_of(path), path, content.encode() if isinstance(content, str) else content)


@pytest.mark.parametrize(
    ("path", "content", "line"),
    [
        ("a.json", '{"a": 1,\n}', 1 if sys.version_info >= (3, 13) else 2),  # the comma, or what stands behind it
        ("a.json", '{"a": [1, 2}\n', 1),
        ("a.json", '// c\n{"a": [1, 2}\n', 2),
        ("a.json", "", 1),
        ("tsconfig.json", '{\n  // c\n  "a": [1,\n}\n', 4),
        ("a.jsonc", "{a: 'b'\n", 2),
        ("a.json5", "{a: 'b',\n c: }\n", 2),
        ("a.jsonl", '{}\n\n{"a"\n', 3),
        ("a.toml", "a = 1\nb = \n", 2),
        ("a.toml", "a = [1\n", 2),
        ("a.yaml", "a: [1,\nb: 2\n", 3),
        ("a.yaml", "a: 1\n---\n\t- x\n", 3),
        ("a.yaml", "a: &x 1\n---\nb: *x\n", 3),
        ("a.xml", "<a>\n<b></a>\n", 2),
        ("a.svg", "<svg><g></svg>", 1),
        ("a.xml", "<a>&nothing;</a>", 1),
    ],
)
def test_wrong(path: str, content: str, line: int) -> None:
    result = check(path, content)
    assert isinstance(result, list)
    assert [problem.line for problem in result] == [line]
    assert result[0].message.startswith("not valid ")


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("a.json", b"\xef\xbb\xbf{}"),
        ("a.json", '{"a": NaN, "b": ' + "9" * 10_000 + "}"),
        ("a.json", '// settings\n{"a": 1,}\n'),
        ("a.json", '{"url": "http://x//y", "b": "/* no */"}'),
        ("a.jsonc", '{"a": 1, /* c */ "b": [1, 2,],}\n'),
        ("a.json5", "{a: 'it\\'s', $b: +1, c: .5, d: 0xFF, e: Infinity, f: 'x\\\ny', g: null, 'h': [1,]}"),
        ("a.toml", "a = 1\r\n[b]\r\n"),
        ("a.yaml", "Ref: !Sub x\n---\nb: &a 1\nc: *a\n"),
        ("a.yaml", ""),
        ("a.xml", '<?xml version="1.0"?><!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>'),
        ("a.xml", '<?xml version="1.0" encoding="iso-8859-1"?><a>é</a>'.encode("latin-1")),
    ],
)
def test_sound(path: str, content: str | bytes) -> None:
    assert check(path, content) == []


@pytest.mark.parametrize(
    ("path", "content", "word"),
    [
        ("a.json", b'{"a": "\xe9"}', "json that is not UTF-8"),
        ("a.yaml", "a: ${{ x }}\nb: [${{ x\n", "yaml template"),
        ("a.xml", b'<?xml version="1.0" encoding="no-such"?><a/>', "XML with an unknown encoding: no-such"),
    ],
)
def test_what_cannot_be_told_is_named(path: str, content: str | bytes, word: str) -> None:
    assert check(path, content) == word


def test_entities_and_aliases_do_not_explode() -> None:
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10 if n else "x" * 100}">' for n in range(12))
    aliases = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12))
    started = time.process_time()
    check("a.xml", f"<!DOCTYPE a [{entities}]><a>&e11;</a>")
    assert check("a.yaml", aliases) == []
    assert check("a.yaml", "[" * 500_000) == "yaml nested too deeply"
    check("a.json", "[" * 100_000)
    assert time.process_time() - started < 5
