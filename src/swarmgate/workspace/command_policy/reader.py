"""Parses a command line into the programs that it would start, with their arguments and working folders.

A shell that starts nothing: it follows variables, `cd`, functions and pipes as far as they stand in the line, goes into
whatever runs further commands (`sh -c`, `env`, `xargs`, `find -exec`, `python -c`, ...) and writes down each program.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from swarmgate.workspace.code import grammars
from swarmgate.workspace.command_policy import builtins, heredocs, inline_code, quoting, wrappers
from swarmgate.workspace.command_policy.model import UNKNOWN, Feed, Redirect, Simple, Unreadable, Word, program_of
from swarmgate.workspace.command_policy.predicted_output import printed
from swarmgate.workspace.command_policy.state import State
from swarmgate.workspace.command_policy.walk import Text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from swarmgate.workspace.command_policy.wrappers import Inner

LIMIT_S = 1.0
"""Seconds for the parser."""
_DEEPEST, _MOST = 16, 2000
NETWORK = frozenset({"curl", "wget", "fetch", "aria2c", "http", "https", "httpie", "nc", "ncat", "netcat", "socat",
                     "lynx", "w3m", "ftp", "scp", "ssh", "telnet", "rsync", "gh"})  # fmt: skip
"""Programs whose output or file may come from another machine."""
_CODE_VARIABLES = frozenset({
    "GIT_PAGER", "GIT_EDITOR", "GIT_EXTERNAL_DIFF", "GIT_SSH_COMMAND", "GIT_SSH", "GIT_SEQUENCE_EDITOR", "GIT_ASKPASS",
    "PAGER", "EDITOR", "VISUAL", "PROMPT_COMMAND", "MANPAGER", "LESSOPEN",
})  # fmt: skip
"""Variables that hold a command."""


class Reader:
    """Parses one command line.

    Args:
        root: the repository's top, absolute.
        home: what `~` is.
        start: the folder that the line starts in, absolute; the root by default.
    """

    def __init__(self, root: str, home: str, start: str = "") -> None:
        self._root = root
        self._start = start or root
        self._home = home
        self.found: list[Simple] = []
        self._at_exit: list[tuple[str, State]] = []

    def line(self, text: str) -> tuple[Simple, ...]:
        """All that the line would start.

        Raises:
            Unreadable: it is no valid shell code, or too much of it.
        """
        if quoting.has_private(text) or "\0" in text:
            raise Unreadable("it has characters that no command needs (NUL, or of Unicode's private range)")
        try:
            self.read(text, State(cwd=self._start, home=self._home), Feed(""))
            while self._at_exit:
                code, state = self._at_exit.pop()
                self.read(code, state.copy("trap"), Feed(""))
        except RecursionError:
            raise Unreadable("it is nested too deeply") from None
        return tuple(self.found)

    def read(self, text: str, state: State, feed: Feed) -> Feed:
        """Goes through shell code; returns what it prints."""
        lifted, bodies = heredocs.lift(text)
        try:
            root = grammars.parse("bash", lifted.encode("utf-8", "replace"), limit_s=LIMIT_S).root_node
        except grammars.TooSlow:
            raise Unreadable("reading it takes too long") from None
        return Text(self, lifted.encode("utf-8", "replace"), bodies).whole(root, state, feed)

    def record(self, simple: Simple) -> None:
        """Writes one program down."""
        self.found.append(simple)
        if len(self.found) > _MOST:
            raise Unreadable("it starts too many commands")

    def run(
        self, words: Sequence[Word], state: State, feed: Feed, *, redirects: Sequence[Redirect] = (),
        assigned: Sequence[tuple[str, str]] = (),
    ) -> Feed:  # fmt: skip
        """One command with its words; returns what it prints."""
        feed = self._input(redirects, state, feed)
        name = program_of(words[0])
        for variable, value in assigned:
            if variable in _CODE_VARIABLES:
                self.read(value, state.copy(variable), Feed(""))
        if name in state.functions and "/" not in words[0].text:
            out = self._called(name, words, state, feed)
            if redirects:
                self.record(Simple((), tuple(redirects), state.cwd, state.via))
            return self._output(redirects, state, out)
        builtins.apply(name, words[1:], state, feed)
        inners = wrappers.unwrap(words)
        if name == "trap":
            self._at_exit += [(inner.text, state) for inner in inners if inner.text]
            inners = ()
        unread = self._code(words, state, feed) or self._executed(words, state)
        if not inners or unread or redirects or any(inner.counted for inner in inners):
            self.record(Simple(tuple(words), tuple(redirects), state.cwd, state.via, tuple(assigned), unread))
        out = printed(words, feed, cwd=state.cwd, root=self._root)
        for inner in inners:
            out = self._inside(inner, state, feed, assigned) or out
        builtins.record_files(name, words[1:], state, out, network=NETWORK)
        return self._output(redirects, state, out)

    # --- inside of wrappers ---

    def _inside(self, inner: Inner, state: State, feed: Feed, assigned: Sequence[tuple[str, str]]) -> Feed | None:
        below = state.copy(inner.label)
        if len(below.via) > _DEEPEST:
            raise Unreadable("commands in commands in commands: it is wrapped too deeply")
        if inner.cwd is not None:
            below.cwd = builtins.joined(state.cwd, inner.cwd.text)
        for name, value in (*assigned, *inner.assigned):
            below.variables[name] = value
            if name in _CODE_VARIABLES:
                self.read(value, below.copy(name), Feed(""))
        if inner.text is not None:
            below.arguments = inner.arguments[1:]
            below.variables["0"] = inner.arguments[0] if inner.arguments else inner.label
            return self.read(inner.text, below, feed)
        if inner.stdin:
            return self._from_input(inner, below, feed)
        if inner.script:
            return self._script(inner.script, below, feed, inner.arguments[1:], label=inner.label)
        if not inner.words:
            return None
        words = wrappers.placed(inner.words, _names(feed), inner.place) if inner.listed else inner.words
        return self.run(words, below, Feed("") if inner.listed else feed, assigned=inner.assigned)

    def _from_input(self, inner: Inner, state: State, feed: Feed) -> Feed | None:
        if feed.text is not None:
            return self.read(feed.text, state, Feed(""))
        if feed.file:
            return self._script(feed.file, state, Feed(""), (), label=inner.label)
        if feed.programs:
            self.record(Simple((Word(inner.label),), cwd=state.cwd, via=state.via[:-1], unread=_piped(feed)))
        return None

    def _script(self, path: str, state: State, feed: Feed, arguments: tuple[str, ...], *, label: str) -> Feed | None:
        """A file of shell code: read where the line itself wrote it; any other is the repository's own."""
        written = state.files.get(builtins.joined(state.cwd, path))
        if written is None and UNKNOWN not in path:
            return None
        if written is not None and written.text is not None:
            state.arguments = arguments
            return self.read(written.text, state, feed)
        if UNKNOWN in path or (written and NETWORK & set(written.programs)) or path.startswith("/dev/fd/"):
            why = _piped(written) if written else "which file it runs is not known"
            self.record(Simple((Word(label), Word(path)), cwd=state.cwd, via=state.via[:-1], unread=why))
        return None

    def _executed(self, words: Sequence[Word], state: State) -> str:
        """Why a file that the line itself wrote and now starts may not be known; one that is known is read."""
        name, path = program_of(words[0]), words[0].text
        if name in {".", "source"} and len(words) > 1:
            self._script(words[1].text, state.copy(name), Feed(""), tuple(w.text for w in words[2:]), label=name)
            return ""
        written = state.files.get(builtins.joined(state.cwd, path)) if "/" in path else None
        if written is None:
            return ""
        if written.text is not None:
            below = state.copy(path)
            below.arguments = tuple(word.text for word in words[1:])
            first = written.text.split("\n", 1)[0]
            language = (
                program_of(Word(first.removeprefix("#!").split()[-1]))
                if first.startswith("#!") and first[2:].split()
                else "sh"
            )
            if language in inline_code.LANGUAGES:
                return self._effects(language, written.text, below)
            self.read(written.text, below, Feed(""))
            return ""
        return _piped(written) if NETWORK & set(written.programs) else ""

    def _called(self, name: str, words: Sequence[Word], state: State, feed: Feed) -> Feed:
        if name in state.calls:
            return Feed(None, (name,))
        text, node = state.functions[name]
        before = state.arguments, state.calls, state.via
        state.arguments = tuple(word.text for word in words[1:])
        state.calls, state.via = (*state.calls, name), (*state.via, f"{name}()")
        try:
            out: Feed = text.walk(node, state, feed)
        finally:
            state.arguments, state.calls, state.via = before
        return out

    # --- code of other languages ---

    def _code(self, words: Sequence[Word], state: State, feed: Feed) -> str:
        """Goes through the code that an interpreter gets; returns why it cannot."""
        name = program_of(words[0])
        if name not in inline_code.LANGUAGES:
            return ""
        code, from_input = inline_code.code_of(words)
        if from_input and (feed.programs or feed.text):
            if feed.text is None:
                return "" if feed.file and not NETWORK & set(feed.programs) else _piped(feed)
            code = feed.text
        if code is None:
            paths = [builtins.joined(state.cwd, word.text) for word in words[1:3]]
            written = next((state.files[path] for path in paths if path in state.files), None)
            if written is None:
                return ""
            if written.text is None:
                return _piped(written) if NETWORK & set(written.programs) else ""
            code = written.text
        if UNKNOWN in code and not code.replace(UNKNOWN, "").strip():
            return "which code it runs is known only when it runs"
        return self._effects(name, code, state.copy(f"{name} code"))

    def _effects(self, language: str, code: str, state: State) -> str:
        unread = ""
        for effect in inline_code.effects(language, code):
            match effect.kind:
                case "shell":
                    self.read(effect.text, state, Feed(""))
                case "argv" if effect.words and UNKNOWN not in effect.words[0]:
                    self.run([Word(text) for text in effect.words], state, Feed(""))
                case "delete" | "tree":
                    option = "-rf" if effect.kind == "tree" else "-f"
                    self.record(Simple((Word("rm"), Word(option), Word(effect.text)), cwd=state.cwd, via=state.via))
                case "write":
                    opened = (Redirect(">", Word(effect.text)),)
                    self.record(Simple((), opened, state.cwd, state.via))
                case "forks":
                    self.record(Simple((Word(language),), cwd=state.cwd, via=state.via, loops=True))
                case "hidden":
                    unread = "its code is decoded or fetched at run time"
        return unread

    # --- files ---

    def _input(self, redirects: Sequence[Redirect], state: State, feed: Feed) -> Feed:
        for each in redirects:
            if each.operator in {"<", "0<"}:
                path = builtins.joined(state.cwd, each.target.text)
                feed = state.files.get(path) or Feed(None, ("<",), file=each.target.text)
        return feed

    def _output(self, redirects: Sequence[Redirect], state: State, out: Feed) -> Feed:
        for each in redirects:
            if each.writes and not each.operator.startswith("2"):
                path = builtins.joined(state.cwd, each.target.text)
                old = state.files.get(path) if ">>" in each.operator else None
                text = (
                    out.text if old is None else None if old.text is None or out.text is None else old.text + out.text
                )
                state.files[path] = Feed(text, out.programs)
                out = Feed("")
        return out


def _names(feed: Feed) -> tuple[Word, ...]:
    if feed.text is not None:
        return tuple(Word(text) for text in feed.text.replace("\0", "\n").split())
    return feed.names or (Word(UNKNOWN),)


def _piped(feed: Feed) -> str:
    source = " | ".join(feed.programs) or "another program"
    if NETWORK & set(feed.programs):
        return f"it runs what comes over the network ({source})"
    return f"it runs what `{source}` prints, and that is not known"
