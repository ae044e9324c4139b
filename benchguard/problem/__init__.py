"""What is asked of a submission: arguments, test cases, reference, tolerances. Trusted code."""
