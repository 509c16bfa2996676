"""The one place where context.md is read and written: decisions, and the guidance of experts."""
