"""How well a value meets a condition: fuzzy sets, possibility and necessity, norms."""
