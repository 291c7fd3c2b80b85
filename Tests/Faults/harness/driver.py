"""Runs the requested kinds, and prints a line of figures for each. See ../run.sh."""

import sys

import clock
import common
import damage
import errors
import power
import races

KINDS = {"errors": errors.run, "kills": errors.kills, "power": power.run, "damage": damage.run, "races": races.run, "clock": clock.run}


def main():
    child, shim, engine, what, amount, seed = sys.argv[1:7]
    setting = common.Setting(child, shim)
    known = common.known_limits()
    bad = 0
    try:
        for name, run in KINDS.items():
            if what in ("all", name):
                for counts in run(setting, engine, int(amount), seed, known):
                    counts.show()
                    bad += counts.bad()
    finally:
        setting.remove()
    sys.exit(1 if bad else 0)


main()
