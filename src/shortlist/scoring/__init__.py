"""How good is a match? Score expressions, preference levels, and one score per shortlist."""
