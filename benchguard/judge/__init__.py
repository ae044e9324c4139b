"""Makes inputs that no submission has seen, computes what is right, and compares. Trusted, in a process of its own."""
