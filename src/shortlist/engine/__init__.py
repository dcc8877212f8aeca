"""One pure state machine: commands and publications in, deliveries and rejects out."""
