"""The plan: its phases and tasks, the rules that make it legal, and the merge of two of them."""
