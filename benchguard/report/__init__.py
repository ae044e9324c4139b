"""From an audit log to what a person wants to know of it."""
