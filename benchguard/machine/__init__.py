"""This machine, and whether neutrino-bench works on it."""
