"""Run the engine: python -m benchguard.probe.engines.memory WORKDIR KERNEL"""

from benchguard.probe import engine
from benchguard.probe.engines.memory.build import build

raise SystemExit(engine.main(build))
