"""Many shortlists of one kind of policy at once, with their state in arrays."""
