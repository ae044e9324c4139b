"""`python -m benchguard` is `neutrino-bench`."""

from .cli.main import main

if __name__ == "__main__":
    main()
