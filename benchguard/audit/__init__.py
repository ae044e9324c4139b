"""Turn a measured process's trace rings into an audit log.

session   the shared memory and its environment variables
drain     moves bytes out of the trace rings
decode    untrusted bytes to records
interpret records to log lines: binmap, funcmap, clocks
log       the hash-chained file
supervise runs a command with all of this around it
"""
