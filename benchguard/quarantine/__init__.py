"""The submission's own process: confined, under the shim, and believed in nothing but the captures it leaves."""
