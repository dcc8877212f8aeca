"""Which subscriptions does a publication match, and how well?"""
