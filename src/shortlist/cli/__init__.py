"""The program `shortlist`: a thin layer over the library."""
