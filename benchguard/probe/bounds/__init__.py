"""The probe `bounds`: each access to global and shared memory is held against the memory that the kernel was given."""
