"""Background capabilities that never call a model, one folder each, and the event bus that starts their workers."""
