"""block-times: the begin, the end and the SM of each block of a launch."""
