"""The nouns, as frozen values: what publishers send, what subscribers leave, what is delivered."""
