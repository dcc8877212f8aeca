"""How good a shortlist was: spread over subscriptions, steadiness, traffic saved."""
