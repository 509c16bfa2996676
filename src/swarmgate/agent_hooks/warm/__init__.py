"""The warm process: has the gates loaded, and says within 300 ms what they find in a file that was edited."""
