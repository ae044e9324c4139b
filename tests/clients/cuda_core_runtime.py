"""Calls of cuda.core to the CUDA runtime library that cuda.bindings contains: Device.sync and the bus address."""

from __future__ import annotations

import sys

from cuda.core import Device


def main() -> int:
    device = Device()
    device.set_current()
    device.sync()
    return 0 if device.pci_bus_id.count(":") == 2 else 1


if __name__ == "__main__":
    sys.exit(main())
