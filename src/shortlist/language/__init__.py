"""Text to tree and back: conditions (`where`) and score expressions."""
