"""Who gets it? Policies turn scored candidates into deliveries; publishers choose their audience."""
