"""Who gets it? Policies select what is delivered; publishers choose their audience."""
