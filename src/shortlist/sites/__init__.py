"""Real sites: deployments that exchange publications over links, each with its own log."""
