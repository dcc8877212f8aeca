"""Relevance-ranked publish/subscribe: everyone gets a shortlist, not everything that matches."""
