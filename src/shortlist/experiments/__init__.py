"""Experiments: figures of papers beside what this system does, and policies beside each other."""
