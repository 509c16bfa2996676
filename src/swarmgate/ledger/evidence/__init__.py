"""Evidence of attempts: files with recorded SHA-256, their index, retention and archives."""
