"""What every table of the configuration is made of: the closed record, and the types that several tables use."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

Seconds = Annotated[float, Field(ge=1, le=86_400)]
RoleName = Literal["default", "architect", "critic", "coder", "reviewer", "test_engineer", "sme"]


class Section(BaseModel):
    """A table of the configuration: frozen, closed, finite numbers only."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
