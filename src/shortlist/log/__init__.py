"""Durable logs behind one protocol: `sqlite:PATH` (embedded) and `nats://…` (JetStream)."""
