"""What the server tells about itself: metrics, logs, and traces of what its agents do."""
