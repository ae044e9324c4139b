"""Protections of the quarantined process, and the program that applies them before it runs the submission."""
