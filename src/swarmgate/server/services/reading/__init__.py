"""What all services read by: who may see what, views that are kept while nothing changed, texts without secrets."""
