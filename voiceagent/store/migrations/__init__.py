"""The schema's versions, applied in order when a store is opened."""
