"""One micro-batch after the other: what is read, decided, saved and committed, without Spark."""
