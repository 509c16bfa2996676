"""What every request passes: who asks, limits, errors, streams."""
