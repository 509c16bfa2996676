"""Names and places of metrics, spans and logs."""
