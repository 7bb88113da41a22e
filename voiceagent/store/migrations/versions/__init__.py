"""One module for each version; a later one names the one before it."""
