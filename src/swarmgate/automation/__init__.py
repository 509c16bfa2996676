"""Work beside the loop that never calls a model: for now the doctor."""
