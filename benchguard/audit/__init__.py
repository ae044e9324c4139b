"""From a measured process's rings to an audit log.

session   the shared memory and its environment variables
drain     moves bytes out of the rings
decode    bytes to records, trusting none of them
interpret records to log lines: binmap, funcmap, clocks
log       the hash-chained file
supervise runs a command with all of this around it
"""
