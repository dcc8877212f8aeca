"""Whole jobs over finite files, whoever runs them."""
