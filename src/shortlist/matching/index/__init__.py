"""The compiled matcher: subscriptions as arrays, publications in blocks."""
