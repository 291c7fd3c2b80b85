"""Runs mutants in one copy."""
import os
import shutil
import tempfile

from harness.process import crash, fail, run
from harness.results import KILLED

BUILD_MINUTES = 60
# The shortest time without output, in seconds, after which the tests count as hung. A slow machine gets four times its longest silence without a mutant.
SHORTEST_SILENCE = 120
BASELINE_SILENCE = 15 * 60
# The time for the tests without a mutant, which no failure ends early, as a multiple of the time for those of a mutant.
BASELINE_FACTOR = 6
# The number of runs of a stage in which tests fail that pass alone, after which the mutant counts as killed.
RUNS = 3
# The least time for the test that failed to run alone.
LEAST_SECONDS = 60
MODULES, ALL = "modules", "all"


class Worker:
    def __init__(self, copy, options, results, say):
        self.copy = copy
        self.options = options
        self.results = results
        self.say = say
        self.silence = SHORTEST_SILENCE
        self.environment = dict(os.environ)
        # A mutant may leave a variable unused, and the options of the calling make are not for the one in the copy.
        for name in ("POLYSTORE_WARNINGS_AS_ERRORS", "POLYSTORE_RING", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES"):
            self.environment.pop(name, None)
        # The signal identifies a crash; a backtrace takes long.
        self.environment.setdefault("SWIFT_BACKTRACE", "enable=no")

    # Commands

    def build(self, *options):
        return run(["swift", "build", *options], self.copy.folder, self.environment, BUILD_MINUTES * 60)

    def test(self, stage, mutants, seconds, only=None):
        """Runs the tests of the mutants' modules, all tests, or those of a ring.

        only: The function of the test to run alone.
        """
        # Tests that are killed leave their files.
        folder = tempfile.mkdtemp(prefix="polystore-mutants-")
        # Some tests read a store as another user, who must be able to enter.
        os.chmod(folder, 0o755)
        environment = {**self.environment, "TMPDIR": folder}
        if stage not in (MODULES, ALL):
            environment["POLYSTORE_RING"] = stage
        if stage == MODULES or only:
            filters = dict.fromkeys(pattern for mutant in mutants for pattern in mutant.filters())
            if only:
                filters = [rf"{module}(.*[./])?{only}\(" for module in filters] if stage == MODULES else [rf"[./]{only}\("]
            command = ["swift", "test", "--skip-build", *(option for pattern in filters for option in ("--filter", pattern))]
        else:
            command = ["sh", "-c", self.options.suite]
        try:
            return run(command, self.copy.folder, environment, seconds, self.silence, stops_at_failure=True)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    # Without a mutant

    def check_baseline(self, stage, mutants):
        """Checks that the tests of a stage pass without a mutant, unless that was done before.

        Returns false if the run was stopped.
        """
        wanted = {name for mutant in mutants for name in mutant.tests}
        for record in self.results.baselines:
            if record["baseline"] == stage and (stage != MODULES or wanted <= set(record["tests"])):
                self.silence = max(self.silence, 4 * record["longest_silence"])
                return True
        self.say(f"building {self.results.revision[:12]} without a mutant")
        built = self.build("--build-tests")
        if built.end == "stopped":
            return False
        if built.code != 0:
            fail("the copy does not compile without a mutant:\n" + "\n".join(built.lines[-30:]))
        names = {MODULES: "the tests of the modules", ALL: "all tests"}
        name = names.get(stage, f"the tests of the ring {stage}")
        self.say(f"built in {built.seconds:.0f} s; running {name} without a mutant")
        for attempt in (1, 2):
            self.silence = BASELINE_SILENCE
            tested = self.test(stage, mutants, BASELINE_FACTOR * 60 * self.minutes(stage))
            if tested.end == "stopped":
                return False
            if tested.end == "exited" and tested.code == 0:
                break
            what = {"late": "the time is over", "silent": "they print nothing"}.get(tested.end)
            what = f"{tested.failure.name}: {tested.failure.message}" if tested.failure else what or crash(tested)
            if attempt == 2:
                fail(f"{name} fail without a mutant, so that a failure proves nothing: {what}")
            self.say(f"{name} fail without a mutant, and are run again: {what}")
        self.say(f"{name} pass without a mutant in {tested.seconds:.0f} s")
        self.results.save(
            {
                "baseline": stage, "tests": sorted(wanted), "seconds": round(tested.seconds, 1),
                "longest_silence": round(tested.longest_silence, 1),
            })
        self.silence = max(SHORTEST_SILENCE, 4 * tested.longest_silence)
        return True

    # With a mutant

    def minutes(self, stage):
        return self.options.minutes if stage in (MODULES, ALL) else self.options.ring_minutes

    def judge(self, stage, mutant, seconds):
        """Runs the tests of a stage. Returns the outcome if they did not pass, else None, and the time that they took.

        A failure counts if the test also fails alone, or in a second run of the stage: a test that fails once by chance has not detected the mutant.
        """
        left = seconds
        unconfirmed = []

        def outcome(name, by, message=None):
            record = {"outcome": name, "by": by, "stage": stage, "seconds": seconds - left}
            return {**record, "message": message} if message else record

        for _ in range(RUNS):
            output = self.test(stage, [mutant], left)
            left -= output.seconds
            if output.end == "stopped":
                return {"outcome": "stopped"}, seconds - left
            if output.end == "silent":
                return outcome("hung", f"no output for {self.silence:.0f} s"), seconds - left
            if output.end == "late":
                return outcome("timed out", None), seconds - left
            if output.end == "exited":
                return (outcome("killed", crash(output)) if output.code != 0 else None), seconds - left
            failure = output.failure
            if not failure.function or any(earlier.function == failure.function for earlier in unconfirmed):
                return outcome("killed", failure.name, failure.message), seconds - left
            alone = self.test(stage, [mutant], max(left, LEAST_SECONDS), only=failure.function)
            left -= alone.seconds
            if alone.end == "stopped":
                return {"outcome": "stopped"}, seconds - left
            passes = alone.end == "exited" and alone.code == 0 and any(f"✔ Test {failure.function}(" in line for line in alone.lines)
            if not passes:
                return outcome("killed", failure.name, failure.message), seconds - left
            self.say(f"{mutant.id}: {failure.name} failed, but passes alone: {failure.message}")
            unconfirmed.append(failure)
        return outcome("killed", " or ".join(failure.name for failure in unconfirmed), unconfirmed[0].message), seconds - left

    def tests(self, mutant, stages):
        """Runs the tests of one stage after the other until something fails."""
        taken = 0.0
        for stage in stages:
            if stage not in (MODULES, ALL):
                taken = 0.0
            found, seconds = self.judge(stage, mutant, self.minutes(stage) * 60 - taken)
            if found:
                return found if found["outcome"] == "stopped" else {**found, "seconds": round(found["seconds"] + taken, 1)}
            taken += seconds
        return {"outcome": "survived", "by": None, "stage": stages[-1], "seconds": round(taken, 1)}

    def run(self, mutant, stages):
        """Plants a mutant and returns its record; None if the run was stopped."""
        problem = mutant.problem(self.copy.text(mutant.file))
        if problem:
            return {"outcome": "does not apply", "by": problem}
        self.copy.plant([mutant])
        try:
            built = self.build("--build-tests")
            if built.end == "stopped":
                return None
            if built.end != "exited" or built.code != 0:
                errors = [line for line in built.lines if "error:" in line] or built.lines[-1:] or ["no output"]
                return {"outcome": "does not compile", "by": errors[0].replace(f"{self.copy.folder}/", "")}
            found = self.tests(mutant, stages)
        finally:
            self.copy.restore()
        # A failing test proves nothing if it fails without the mutant too.
        if found["outcome"] == "stopped" or found["outcome"] in KILLED and not self.check_baseline(found["stage"], [mutant]):
            return None
        return {**found, "build": round(built.seconds, 1)}
