"""Problems: arguments, test cases, references and tolerances. Trusted code."""
