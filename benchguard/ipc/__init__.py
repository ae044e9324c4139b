"""Pipes, shared memory, messages and process groups between the processes of one run."""
