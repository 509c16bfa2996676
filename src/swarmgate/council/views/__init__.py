"""Views that all council patterns share: progress, event stream, Markdown and text formatting."""
