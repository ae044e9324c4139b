"""Rewards for trainers: the score of a graded submission, and adapters to trainers (docs/fleet.md)."""
