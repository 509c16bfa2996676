"""Work beside the loop that never calls a model: one folder a capability, and the bus that starts them."""
