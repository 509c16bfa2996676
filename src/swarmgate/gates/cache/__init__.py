"""Cache of gate results, one entry a file, keyed by everything that the result depends on."""
