"""Computes the cache key of a gate's result from everything that the result depends on."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

from swarmgate.gates.cache.store import key_of
from swarmgate.gates.scanners import Dependence
from swarmgate.gates.source.file import Revision

if TYPE_CHECKING:
    from collections.abc import Iterator

    from swarmgate.gates.job import Job

_APART = frozenset(
    {"memory", "project", "repository", "change", "sources", "timeout_s", "progress", "commands", "in_run"}
)
"""What of a job is in a key in another form, or changes no outcome that is kept."""


def cache_key(job: Job, surroundings: str) -> str:
    """The cache key of a job; empty where its result must not be cached.

    Args:
        job: the gate's.
        surroundings: the hash of what the outcome depends on beside the change.
    """
    gate = job.definition
    if gate.command and not gate.cache:
        return ""
    values = (getattr(job, field.name) for field in fields(job) if field.name not in _APART)
    # A tool may say something else where it is confined.
    confined = gate.reads_files and job.in_run
    # A limit that is set holds otherwise than the same one by default, and a model does not show which are.
    limits = sorted(job.quality.model_fields_set) if job.quality else ()
    return key_of((surroundings, confined, limits, *map(repr, values), *_looked_at(job)))


def _looked_at(job: Job) -> Iterator[object]:
    ids = {file.path: (file.new_id, file.old_id) for file in job.change.files}
    of_files = job.definition.record.scope is Dependence.FILE and all(new or old for new, old in ids.values())
    yield from ("files",) if of_files else ("trees", job.change.base, job.change.tree, *sorted(ids))
    for source in job.sources:
        for field in fields(source):
            yield _part(getattr(source, field.name))
        yield from ids[source.path]


def _part(value: object) -> object:
    # Of what follows from the two contents, the size will do.
    if isinstance(value, Revision):
        return value.path, value.language, len(value.content)
    if isinstance(value, frozenset):
        return sorted(value) if all(isinstance(each, str) for each in value) else len(value)
    return value
