"""Policies in numba, on plain arrays only."""
