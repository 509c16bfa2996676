"""What takes a while and is no run: gates, doctor, preflight, a pull request; begun at once, looked at later."""
