"""A clock that moves by two hours at each reading: waits end at their timeouts, and not before."""

import os

import common


def run(setting, engine, amount, seed, known):
    del amount, seed
    for step, name in ((-7200, "clock set back"), (7200, "clock set forward")):
        counts = common.Counts(engine, name, known)
        path = os.path.join(setting.fresh("run"), "store")
        environment = dict(os.environ, LD_PRELOAD=setting.shim, FAULTS_CLOCK=str(step))
        counts.add(common.ended([setting.child, "clock", engine, path], environment) or "ok", f"FAULTS_CLOCK={step}: clock {engine}")
        yield counts
