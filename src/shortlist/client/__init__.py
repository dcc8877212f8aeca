"""Speaking to a deployment: what is sent to its log, and what is read from it and its state."""
