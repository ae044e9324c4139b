"""Run the engine: python -m benchguard.probe.engines.block_times WORKDIR KERNEL"""

from benchguard.probe import engine
from benchguard.probe.engines.block_times.build import build

raise SystemExit(engine.main(build))
