"""Shortlist on Apache Spark: the session, the data it reads and writes, and the plans it runs."""
