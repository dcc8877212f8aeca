"""Loops over plain arrays, compiled by numba."""
