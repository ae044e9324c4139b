"""Probes: code that is added to a program's kernels, and the reports that follow from it."""
