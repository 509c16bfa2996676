"""What people read of a council while it is at work and afterwards, whatever its pattern."""
