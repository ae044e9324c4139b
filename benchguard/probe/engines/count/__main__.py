"""Run the engine: python -m benchguard.probe.engines.count WORKDIR KERNEL"""

from benchguard.probe import engine
from benchguard.probe.engines.count.build import build

raise SystemExit(engine.main(build))
