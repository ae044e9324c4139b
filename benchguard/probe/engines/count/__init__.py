"""count: the instructions that a launch executed, by class."""
