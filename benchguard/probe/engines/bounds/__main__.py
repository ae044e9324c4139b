"""Run the engine: python -m benchguard.probe.engines.bounds WORKDIR KERNEL"""

from benchguard.probe import engine
from benchguard.probe.engines.bounds.build import build

raise SystemExit(engine.main(build))
