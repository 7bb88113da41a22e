"""Simulations for the tests: a virtual clock, scripted models, a listener."""
