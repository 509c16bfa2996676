"""Tests the syntax check of HTML, Vue, Svelte, makefiles and Dockerfiles."""

from __future__ import annotations

import pytest

from swarmgate.gates.syntax import dockerfiles, markup

VUE = """<script setup lang="ts" generic="T extends string">
const a = defineProps<{ b: T }>()
</script>
<template>
  <div v-for="(x, i) in a.b" :key="i" @click="() => { f(x) }" v-bind="{ y: `}` }">it's {{ g(x) > 1 }} <br> {</div>
  <A v-slot="{ item }" v-if="a > 1" />
</template>
<style scoped lang="scss">
.a { .b { c: d } }
</style>
"""
SVELTE = """<script lang="ts">
  let { a }: { a: string } = $props();
</script>
{#if a > 1}<p class="a {b ? '}' : `{`}" on:click={() => f({ a })} {...rest}>{@html c}</p>
{:else}{@render d?.()}<input bind:value={a} disabled>{/if}
{#each a as { b } (b.c)}<B {b} />{/each}
{#snippet s(x)}<i>{x}</i>{/snippet}
<style>p { color: red }</style>
"""
HTML = """<!doctype html>
<html><head><title>a < b</title><link rel=x href=/a/><script>if (a < b && "</p>") { f() }</script>
<script type="text/template"><div></script><script type="application/json">{</script><style>a { b: c }</style>
<body><p>one<p>two<ul><li>a<li>b</ul><table><tr><td>1 > 0 && 2 { it's<tr></table><img src="a>b" alt='c'><br/>
<!-- <div> --></body></html>
"""
DOCKER = """# syntax=docker/dockerfile:1
ARG A=1
FROM --platform=$B x:${A:-1} AS y
RUN --mount=type=cache,target=/a set -eux; \\
    # a comment (
    case "$(uname -m)" in \\
      x86_64) echo ")" ;; \\
    esac; \\
\\
    if [ -f x ]; then y; fi
RUN <<EOF
if (
EOF
ENV P="\\.(css|js)$" Q=a
HEALTHCHECK --interval=5s CMD curl "http://x/${A}"
onbuild copy ["a b", "c"]
CMD ["x", \\
  "y"]
"""
MAKE = """A := $(shell echo "$$(x)" | sed 's/a//') # (
define B
$(
endef
ifeq ($(A),b)
C = $(patsubst %.c,%.o,$(wildcard *.c))
else ifdef D
C = ${E}
endif
all: $(C) ; echo done
\t@case "$$x" in a) y ;; esac; \\
\techo '(' $(call f,$(1))
\tfor i in a b; do (cd $$i && $(MAKE)); done
"""


@pytest.mark.parametrize(("language", "content"), [("vue", VUE), ("svelte", SVELTE), ("html", HTML)])
def test_sound_pages(language: str, content: str) -> None:
    assert markup.check(language, content.encode()) == []


@pytest.mark.parametrize(
    ("language", "old", "new", "line"),
    [
        ("vue", "</div>", "", 5),
        ("vue", "g(x)", "g(x", 5),
        ("vue", "}} <br>", "} <br>", 5),
        ("vue", "{{ g", "g", 5),
        ("vue", "f(x)", "f x)", 5),
        ("vue", "{ b: T }", "{ b: T ", 2),
        ("vue", ".b {", ".b", 9),
        ("vue", "</script>", "", 1),
        ("vue", "<template>", "<template", 4),
        ("svelte", "{/if}", "", 5),
        ("svelte", "{#each", "#each", 6),
        ("svelte", "f({ a })", "f({ a )", 4),
        ("svelte", "$props()", "$props(", 2),
        ("svelte", "</i>", "", 7),
        ("svelte", "{@html c}", "{@html c", 4),
        ("svelte", "{x}", "x}", 7),
        ("html", "</ul>", "", 4),
        ("html", "f() }", "f() ", 2),
        ("html", "b: c }", "b: c ", 3),
        ("html", "-->", "", 5),
        ("html", "</table>", "</table", 4),
        ("html", "alt='c'>", "alt='c>", 4),
    ],
)
def test_broken_pages(language: str, old: str, new: str, line: int) -> None:
    content = {"vue": VUE, "svelte": SVELTE, "html": HTML}[language]
    assert old in content
    (problem,) = markup.check(language, content.replace(old, new, 1).encode())
    assert abs(problem.line - line) <= 1


def test_words_of_a_tag_that_is_not_closed() -> None:
    (problem,) = markup.check("html", b"<div>\n<span>a\n</div>\n")
    assert problem == (2, 1, "`<span>` is not closed: `</span>` is missing before line 3")


def test_a_sound_dockerfile_and_makefile() -> None:
    assert dockerfiles.dockerfile(DOCKER.encode()) == []
    assert dockerfiles.makefile(MAKE.encode()) == []


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("ARG A", "ARGG A", 2),
        ('"y"]', '"y"', 17),
        ('CMD ["x"', 'CMD "x"', 17),
        ("${A}", "${A", 15),
        ("if [ -f x ];", "( if [ -f x ];", 6),
        (":-1}", ":-1", 3),
    ],
)
def test_a_broken_dockerfile(old: str, new: str, line: int) -> None:
    assert old in DOCKER
    (problem,) = dockerfiles.dockerfile(DOCKER.replace(old, new, 1).encode())
    assert abs(problem.line - line) <= 1


def test_a_dockerfile_that_ends_in_an_instruction() -> None:
    (problem,) = dockerfiles.dockerfile(b"FROM x\nRUN a && \\\n")
    assert problem == (2, 1, "the file ends in the middle of this `RUN`")


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("endef\n", "", 2),
        ("\nendif", "", 5),
        ("*.c))", "*.c)", 6),
        ("$(C) ;", "$(C ;", 10),
        ("${E}", "${E", 8),
        ("ifeq (", "ifeq ", 5),
        ("$(MAKE))", "$(MAKE)", 13),
        ("$(MAKE)", "$MAKE)", 13),
    ],
)
def test_a_broken_makefile(old: str, new: str, line: int) -> None:
    assert old in MAKE
    (problem,) = dockerfiles.makefile(MAKE.replace(old, new, 1).encode())
    assert abs(problem.line - line) <= 1
