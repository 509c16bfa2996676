"""An interpreter of Python that follows values from outside to where they do harm."""
