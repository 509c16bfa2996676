"""Checks the syntax of HTML, Vue and Svelte: tags, expressions, scripts and styles."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from swarmgate.gates.syntax import brackets, trees
from swarmgate.gates.syntax.lexers import Mark
from swarmgate.gates.syntax.problem import Problem, problem_at

if TYPE_CHECKING:
    from collections.abc import Iterator

_VOID = frozenset(
    b"area base br col embed hr img input link meta param source track wbr basefont frame keygen command "
    b"isindex !doctype image".split()
)
# The end tag of these may be left out (HTML Standard 13.1.2.4), and so may whatever they would contain.
_OPTIONAL = frozenset(
    b"html head body li dt dd p rt rp optgroup option colgroup caption thead tbody tfoot tr td th".split()
)
# Elements of HTML that need their end tag; others without a dash (Lua's `<nil>` in a page about Lua) are none.
_CLOSED = frozenset(
    b"a abbr address article aside audio b bdi bdo blockquote button canvas center cite code data datalist del "
    b"details dfn dialog div dl em fieldset figcaption figure font footer form h1 h2 h3 h4 h5 h6 header hgroup i "
    b"iframe ins kbd label legend main map mark menu meter nav noscript object ol output picture pre progress q s "
    b"samp script section select slot small span strong style sub summary sup svg table template textarea time "
    b"title u ul var video".split()
)
_RAW = frozenset((b"script", b"style", b"textarea", b"title", b"xmp", b"noscript"))
_NAME = re.compile(rb"<(/?)([A-Za-z][\w:.-]*)")
_PIECE = re.compile(rb"<!--|<!\[CDATA\[|<[!?]|</?[A-Za-z][\w:.-]*|\{\{|[{}]")
_ATTRIBUTE_MARK = re.compile(rb"[\"'{}<>]|/>")
_DIRECTIVE = re.compile(rb"(?:^|\s)(?:v-[\w:.-]+|[:@#][\w:.\[\]-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_EXPRESSION = re.compile(
    rb"\"[^\"\\\n]*+(?:\\.[^\"\\\n]*+)*+\"|'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'|`[^`\\]*+(?:\\[\s\S][^`\\]*+)*+`"
    rb"|/\*(?:[\s\S]*?\*/|[\s\S]*+)|(?P<mark>[()\[\]{}])"
)
_LANG = re.compile(rb"\blang\s*=\s*[\"']?([\w-]+)")
_TYPE = re.compile(rb"\btype\s*=\s*[\"']?([^\"'\s>]*)")
_SCRIPTS = frozenset((b"", b"module", b"text/javascript", b"application/javascript", b"text/ecmascript", b"text/jsx"))
_JSON = frozenset((b"application/json", b"application/ld+json", b"importmap"))
_STYLES = frozenset(("css", "scss", "less"))
# Tags whose `<` is gone: the name of an element (with attributes, or a long one) where a text begins,
# or an end tag in it.
_NAMES = (
    b"p|li|td|th|tr|ul|ol|dl|dt|dd|div|span|html|head|body|title|table|thead|tbody|tfoot|strong|em|section|form|label|"
    b"select|option|script|style|template|nav|pre|code|article|header|footer|main"
)
_BEHEADED = re.compile(
    rb"\s*+(?:(?:[abiqsu]|h[1-6]|[a-z]\w*-[\w-]+|button|img|input|link|meta|area|" + _NAMES + rb")"
    rb"(?:\s+[\w:@.#-]+=(?:\"[^\"<>]*\"|'[^'<>]*'))+\s*/?>|(?:br|hr|" + _NAMES + rb")\s*/?>)",
    re.IGNORECASE,
)
_BEHEADED_END = re.compile(
    rb"(?<![<\w:/.-])/[a-z][\w-]*>|(?<=[\w.!?])/(?:p|li|td|th|tr|a|b|i|div|span|strong|em|h[1-6]|title|code)>",
    re.IGNORECASE,
)
_WIDEST = 1000
_BLOCK = re.compile(rb"\{\s*([#/])(\w+)")


class _Tag(NamedTuple):
    name: bytes
    start: int
    end: int
    opens: bool
    closes: bool
    attributes: bytes


class _Wrong(Exception):
    """Reading on makes no sense after this."""

    def __init__(self, offset: int, message: str) -> None:
        super().__init__(message)
        self.offset, self.message = offset, message


def check(language: str, content: bytes) -> list[Problem]:
    """What is wrong in a file of HTML, Vue or Svelte.

    Args:
        language: `html`, `vue` or `svelte`.
        content: the file.

    Raises:
        TooSlow: a grammar did not end in time.
    """
    problems: list[Problem] = []
    try:
        tags = list(_tags(language, content, problems))
    except _Wrong as wrong:
        return [problem_at(content, wrong.offset, wrong.message)]
    problems += _embedded(language, content, tags)
    problems += _nesting(language, content, tags)
    return problems[:1]


def _tags(language: str, content: bytes, problems: list[Problem]) -> Iterator[_Tag]:
    position = 0
    while match := _PIECE.search(content, position):
        start, text = match.start(), match[0]
        if text in {b"<!--", b"<![CDATA[", b"<!", b"<?"}:
            position = _after_special(content, start, text)
        elif text == b"}":
            position = _after_stray(language, content, start)
        elif text[:1] == b"{":
            position = _after_braces(language, content, start, text)
            if language == "svelte" and (block := _BLOCK.match(content, start)):
                opens = block[1] == b"#"
                yield _Tag(b"{#" + block[2], start, position, opens=opens, closes=not opens, attributes=b"")
        else:
            tag = _tag(language, content, start, match.end())
            position = tag.end
            yield tag
            name = tag.name if language != "html" else tag.name.lower()
            if name not in _RAW:
                _text(content, position)
            if tag.opens and (name in _RAW or _foreign(language, tag)):
                position = _after_raw(content, tag)
                closing = content.rfind(b"</", tag.end, position)
                yield _Tag(tag.name, closing, position, opens=False, closes=True, attributes=b"")
            elif language == "vue":
                problems += _directives(content, tag)


def _text(content: bytes, start: int) -> None:
    following = _PIECE.search(content, start)
    end = following.start() if following else len(content)
    beheaded = _BEHEADED.match(content, start, end) or _BEHEADED_END.search(content, start, end)
    if beheaded:
        raise _Wrong(beheaded.end() - len(beheaded[0].lstrip()), "`<` is missing")


def _after_special(content: bytes, start: int, text: bytes) -> int:
    ending = {b"<!--": b"-->", b"<![CDATA[": b"]]>"}.get(text, b">")
    end = content.find(ending, start + (2 if text == b"<!--" else len(text)))
    if end < 0:
        raise _Wrong(start, f"`{text.decode()}` is never closed")
    return end + len(ending)


def _after_braces(language: str, content: bytes, start: int, text: bytes) -> int:
    if language == "html" or (language == "vue" and text != b"{{"):
        return start + 1
    depth: list[Mark] = []
    for match in _EXPRESSION.finditer(content, start):
        if not match["mark"]:
            continue
        if match["mark"] in b"([{":
            depth.append(Mark(match.start(), match["mark"]))
        elif not depth or {b"(": b")", b"[": b"]", b"{": b"}"}[depth[-1].text] != match["mark"]:
            break
        else:
            depth.pop()
            if not depth:
                return match.end()
    opener = depth[-1] if depth else Mark(start, b"{")
    closing = {b"(": ")", b"[": "]", b"{": "}"}[opener.text]
    raise _Wrong(opener.offset, f"`{opener.text.decode()}` is not closed: `{closing}` is missing")


def _after_stray(language: str, content: bytes, start: int) -> int:
    if language == "svelte" or (language == "vue" and content[start : start + 2] == b"}}"):
        raise _Wrong(start, "unexpected `}`")
    return start + 1


def _tag(language: str, content: bytes, start: int, position: int) -> _Tag:
    name = _NAME.match(content, start)
    assert name is not None  # noqa: S101 - for mypy: the piece began like this
    while match := _ATTRIBUTE_MARK.search(content, position):
        text, position = match[0], match.end()
        if text in {b">", b"/>"}:
            # In `href=/>` and `a=>b` of an expression it is part of a value; only Svelte has the latter, in braces.
            alone = text == b"/>" and content[match.start() - 1 : match.start()] != b"="
            return _Tag(name[2], start, position, opens=not name[1] and not alone, closes=bool(name[1]),
                        attributes=content[name.end() : match.start()])  # fmt: skip
        if text == b"<":
            raise _Wrong(start, f"`<{name[1].decode()}{name[2].decode()}` has no `>`")
        if text == b"{" and language == "svelte":
            position = _after_braces(language, content, match.start(), text)
        elif text == b"}" and language == "svelte":
            raise _Wrong(match.start(), "unexpected `}`")
        elif text in {b'"', b"'"}:
            position = _after_quote(content, start, match, braces=language == "svelte")
    raise _Wrong(start, f"`<{name[1].decode()}{name[2].decode()}` has no `>`")


def _after_quote(content: bytes, start: int, match: re.Match[bytes], *, braces: bool) -> int:
    before = content[max(match.start() - 40, start) : match.start()].rstrip()
    if not before.endswith(b"="):
        return match.end()
    position = match.end()
    while True:
        end = content.find(match[0], position)
        if end < 0:
            raise _Wrong(match.start(), f"`{match[0].decode()}` is never closed")
        brace = content.find(b"{", position, end) if braces else -1
        if brace < 0:
            return end + 1
        position = _after_braces("svelte", content, brace, b"{")


def _foreign(language: str, tag: _Tag) -> bool:
    lang = _LANG.search(tag.attributes)
    return language == "vue" and tag.name == b"template" and bool(lang) and lang is not None and lang[1] != b"html"


def _after_raw(content: bytes, tag: _Tag) -> int:
    ending = re.compile(rb"</" + re.escape(tag.name) + rb"\s*>", re.IGNORECASE).search(content, tag.end)
    if not ending:
        raise _Wrong(tag.start, f"`<{tag.name.decode()}>` is never closed: `</{tag.name.decode()}>` is missing")
    return ending.end()


def _directives(content: bytes, tag: _Tag) -> Iterator[Problem]:
    base = tag.start + 1 + len(tag.name)
    for match in _DIRECTIVE.finditer(tag.attributes):
        group = 1 if match[1] is not None else 2
        offset = base + match.start(group)
        marks = (
            Mark(each.start() + offset, each["mark"]) for each in _EXPRESSION.finditer(match[group]) if each["mark"]
        )
        found = brackets.unbalanced(content, marks)
        if found:
            yield found


def _nesting(language: str, content: bytes, tags: list[_Tag]) -> Iterator[Problem]:
    lower, optional = language == "html", _OPTIONAL if language == "html" else frozenset[bytes]()
    stack: list[_Tag] = []
    for tag in tags:
        name = tag.name.lower() if lower else tag.name
        if name in _VOID or name in optional or (lower and b"-" not in name and name not in _CLOSED):
            continue
        if tag.opens:
            stack.append(tag._replace(name=name))
        elif tag.closes:
            if not stack:
                yield problem_at(content, tag.start, f"unexpected `{_end(name)}`")
                return
            if stack[-1].name != name:
                yield _crossed(content, stack, tag, name)
                return
            stack.pop()
    if stack:
        yield problem_at(
            content, stack[-1].start, f"`{_start(stack[-1].name)}` is never closed: `{_end(stack[-1].name)}` is missing"
        )


def _crossed(content: bytes, stack: list[_Tag], tag: _Tag, name: bytes) -> Problem:
    top = stack[-1]
    if all(each.name != name for each in stack):
        return problem_at(content, tag.start, f"unexpected `{_end(name)}`: nothing opened it")
    line = problem_at(content, tag.start, "").line
    return problem_at(
        content, top.start, f"`{_start(top.name)}` is not closed: `{_end(top.name)}` is missing before line {line}"
    )


def _start(name: bytes) -> str:
    return f"{name.decode()}}}" if name.startswith(b"{") else f"<{name.decode()}>"


def _end(name: bytes) -> str:
    return f"{{/{name[2:].decode()}}}" if name.startswith(b"{") else f"</{name.decode()}>"


def _embedded(language: str, content: bytes, tags: list[_Tag]) -> Iterator[Problem]:
    for tag, ending in pairwise(tags):
        name = tag.name.lower()
        if not tag.opens or name not in {b"script", b"style"} or not content[tag.end : ending.start].strip():
            continue
        # Lines and columns stay those of the page.
        margin = b" " * min(tag.end - content.rfind(b"\n", 0, tag.end) - 1, _WIDEST)
        body = b"\n" * content.count(b"\n", 0, tag.end) + margin + content[tag.end : ending.start]
        lang, kind = _LANG.search(tag.attributes), _TYPE.search(tag.attributes)
        result: list[Problem] | str = []
        if name == b"style":
            style = lang[1].decode().lower() if lang else "css"
            result = trees.check(style, f"a.{style}", body) if style in _STYLES else []
        elif (kind[1].lower() if kind else b"") in _SCRIPTS or (lang and language != "html"):
            result = trees.by_grammar(_script(lang), body)
        yield from result if not isinstance(result, str) else ()


def _script(lang: re.Match[bytes] | None) -> str:
    name = lang[1].lower() if lang else b"js"
    return {b"ts": "typescript", b"typescript": "typescript", b"tsx": "tsx"}.get(name, "javascript")
