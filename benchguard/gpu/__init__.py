"""GPUs of this machine: which one a grade uses, and turns on it."""
