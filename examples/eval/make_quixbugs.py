"""Makes `quixbugs.jsonl`: 80 review items, the buggy and the correct program of each of QuixBugs' 40, shuffled.

    python examples/eval/make_quixbugs.py ../shared/corpora/quixbugs.jsonl

The corpus is a file of JSON lines with `name`, `spec`, `buggy` and `correct`. swarmgate reads such a line as two
items: docstrings, comments and layout are gone (they tell a mended program from a broken one), the spec is the same in
both, and the reason of a bad one is the difference. Written out they are plain items: to look at, to pick from. Their
order is drawn once and for all, so that no place in the file goes with a label.
"""  # noqa: INP001 - an example, not a package

from __future__ import annotations

import json
import random
import sys
from pathlib import Path

from swarmgate.evaluation.debate.fixtures import load

OUT = Path(__file__).parent / "quixbugs.jsonl"


def made(corpus: Path) -> str:
    """The whole text of the file, an item a line."""
    fields = ("id", "kind", "context", "text", "label", "reason", "category", "source")
    items = sorted(load(corpus).items, key=lambda item: item.id)
    random.Random("quixbugs").shuffle(items)  # noqa: S311 - a repeatable order, no secret
    records = ({field: getattr(item, field) for field in fields} for item in items)
    return "".join(json.dumps(record, ensure_ascii=False) + "\n" for record in records)


def main() -> int:
    """Writes the file beside this script; 2 where no corpus is named."""
    if len(sys.argv) != 2:  # noqa: PLR2004 - the script and its one argument
        sys.stderr.write("usage: python examples/eval/make_quixbugs.py CORPUS\n")
        return 2
    text = made(Path(sys.argv[1]))
    OUT.write_text(text, encoding="utf-8")
    sys.stdout.write(f"{OUT}: {text.count(chr(10))} items\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
