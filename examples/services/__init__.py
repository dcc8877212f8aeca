"""Four services to start from: each a registry, and a publisher of generated data."""
