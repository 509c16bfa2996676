"""Evidence of attempts: files with their SHA-256 on record, their index, retention and archives."""
