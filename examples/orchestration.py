"""The orchestration of orchestration.toml, described in Python: `swarm orchestrate examples/orchestration.py`."""  # noqa: INP001 - an example, not a package

from __future__ import annotations

from swarmgate.council.orchestration import map_reduce, parallel, sequence, step, when

CASES = ["a restart during an upload", "a full disk", "two uploads of one name"]

risks = map_reduce(
    "risks",
    CASES,
    step(
        "ask",
        participant="operator",
        text="What happens to the data in case of {item}? Answer in three sentences.",
    ),
    step("ask", participant="editor", text="Which of these risks loses data? Name the worst one first."),
    at_once=2,
)
looks = parallel(
    "looks",
    step("ask", "review", role="reviewer", text="Which of these are handled in the code: {risks}?"),
    step(
        "ask",
        "tests",
        role="test_engineer",
        text='Which of these does a test show: {risks}? A JSON answer looks like {{risk}}: {"tested": true}.',
    ),
)
verdict = step(
    "debate",
    "verdict",
    question="Is the design ready, given {review} and {tests}?",
    participants=["advocate", "challenger"],
    rounds=2,
)
repair = step("ask", "repair", role="architect", text="Repair what the debate holds against it: {verdict}")
release = step("ask", "release", participant="editor", text="Write two sentences for the release notes: {verdict}")

orchestration = sequence(
    risks,
    looks,
    verdict,
    when("verdict.verdict", equals="REJECT", then=repair, otherwise=release),
    title="Is the upload design ready?",
    tokens=400_000,
)
