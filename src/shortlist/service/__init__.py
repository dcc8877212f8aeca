"""The HTTP service beside a deployment: it speaks to the log and the state, and decides nothing."""
