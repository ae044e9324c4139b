"""The supervisor's side of probing: engines are run, probed kernels handed back, traces saved."""
