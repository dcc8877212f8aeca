"""Brokers between publishers and subscribers: few messages, and the deliveries of one engine."""
