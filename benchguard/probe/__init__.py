"""Probes: instrumented copies of kernels, and the traces that they leave."""
