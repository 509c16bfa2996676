"""Decision drift: decisions on record against what came after them. Local and deterministic: no model, no network."""
