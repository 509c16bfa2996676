"""Base of all views, and a page of a list."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import Generic, TypeVar

from pydantic import ConfigDict, Field

from swarmgate.domain.base import Frozen

T = TypeVar("T")


class View(Frozen):
    """What a service answers. It never changes, so that it is written as JSON once, however often it is sent."""

    model_config = ConfigDict(use_attribute_docstrings=True)

    @cached_property
    def encoded(self) -> bytes:
        """The view as JSON, in UTF-8."""
        return self.model_dump_json().encode()

    @cached_property
    def digest(self) -> str:
        """16 hex digits of the SHA-256 of `encoded`: two views with one digest say the same."""
        return hashlib.sha256(self.encoded).hexdigest()[:16]


class Page(View, Generic[T]):
    """A part of a list, in order."""

    # To look for docstrings in the source costs a tenth of a second for each kind of item: they are not made there.
    model_config = ConfigDict(use_attribute_docstrings=False)

    items: tuple[T, ...] = ()
    next: str = Field("", description="What `after` has to be for the next part; empty: this is the last one.")
