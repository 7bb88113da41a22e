"""Simulations for the tests: a virtual clock, scripted models, a listener. Named for what they are."""
