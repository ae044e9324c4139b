"""Many submissions on many machines (docs/fleet.md)."""
