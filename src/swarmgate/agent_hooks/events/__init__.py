"""What each hook decides, one file an event."""
