"""Processes: started, bounded, supervised, told apart, and ended with all that they started."""
