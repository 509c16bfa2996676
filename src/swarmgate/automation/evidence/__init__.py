"""Evidence: reports its completeness, applies its retention, and summarises it for long tasks."""
