"""Run a submission in its own sandboxed process under the shim. Only the captures that it leaves count."""
