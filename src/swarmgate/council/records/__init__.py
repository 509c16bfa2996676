"""Records of councils: the journal, the events that all patterns share, the store, and redaction."""
