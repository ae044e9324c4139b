"""The supervisor as a service: many programs of a container or a machine, one audit log each."""
