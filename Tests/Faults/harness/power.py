"""Power failures: images of the disk at points of an operation log."""

import os
import random
import shutil

import common
import disk

MODELS = ("ordinary", "strict")


class Recording:
    """Runs of the writer with an operation log."""

    def __init__(self, setting, engine):
        self.setting = setting
        self.engine = engine
        self.root = setting.fresh("run")
        self.log = os.path.join(setting.folder, "log")
        self.marks = os.path.join(setting.folder, "marks")
        self.ended = None
        self.entries = []

    def make(self, last, command="write", **settings):
        common.remove(self.log, self.marks)
        self.setting.fresh("run")
        self.ended = common.write(self.setting, self.engine, self.root, last, self.marks, command, log=self.log, **settings)
        self.entries = list(disk.operations(self.log))

    def position(self, operation, payload=b""):
        """Returns the index of the first entry of a kind, or 0."""
        for position, entry in enumerate(self.entries):
            if entry[0] == operation and entry[4].startswith(payload):
                return position
        return 0

    def cut(self, model, points, counts, seed, note):
        """Checks an image at each of the points, which are operation numbers in ascending order."""
        if self.ended:
            counts.add(self.ended, note)
        wrong = common.wrong(common.lines(self.marks))
        if wrong:
            counts.add(wrong, note)
        state = disk.Disk(self.root, model)
        images, notes = [], []

        def flush():
            for (path, _), verdict, told in zip(images, common.check(self.setting, self.engine, images), notes):
                counts.add(verdict, told)
                shutil.rmtree(os.path.dirname(path), ignore_errors=True)
            images.clear()
            notes.clear()

        done = 0
        for number, point in enumerate(points):
            for entry in self.entries[done : point + 1]:
                state.apply(*entry)
            done = max(done, point + 1)
            image = self.setting.fresh(f"image-{number}")
            state.make(image, f"{seed} {point} {number}")
            images.append((os.path.join(image, "store"), common.bounds(state.marks, is_power_cut=True)))
            notes.append(f"seed {seed}, {note}, after operation {point} of {len(self.entries)}")
            if len(images) >= 25:
                flush()
        flush()


def run(setting, engine, amount, seed, known):
    """Cuts at random points of a run without faults, of the first opening and of a reset, in each model, and of runs in which one flush failed."""
    draw = random.Random(f"power {engine} {seed}")
    recording = Recording(setting, engine)

    def points(first, last, count):
        """Returns random points, half of them directly after an acknowledgement."""
        last = max(last, first + 1)
        marks = [at for at, entry in enumerate(recording.entries[first:last], first) if entry[0] == disk.MARK and entry[4][:1] in b"AYN"]
        return sorted(
            draw.choice(marks) if marks and number % 2 else draw.randrange(first, last) for number in range(count))

    for model in MODELS:
        counts = common.Counts(engine, f"power cut, {model}", known)
        recording.make(150)
        recording.cut(model, points(0, len(recording.entries), amount), counts, seed, model)
        yield counts

        counts = common.Counts(engine, f"power cut during the first opening, {model}", known)
        recording.make(1)
        recording.cut(model, points(0, len(recording.entries), max(amount // 3, 4)), counts, seed, f"first opening, {model}")
        yield counts

        counts = common.Counts(engine, f"power cut during a reset, {model}", known)
        recording.make(25, "replace")
        begun = recording.position(disk.MARK, b"Z")
        recording.cut(model, points(begun, len(recording.entries), max(amount // 3, 4)), counts, seed, f"reset, {model}")
        yield counts

        counts = common.Counts(engine, f"power cut with compactions, {model}", known)
        recording.make(31, "compact")
        recording.cut(model, points(0, len(recording.entries), max(amount // 2, 6)), counts, seed, f"compactions, {model}")
        yield counts

        counts = common.Counts(engine, f"power cut with full-text indexes that are dropped and built, {model}", known)
        recording.make(24, "reindex")
        recording.cut(model, points(0, len(recording.entries), max(amount // 2, 6)), counts, seed, f"full-text indexes, {model}")
        yield counts

        counts = common.Counts(engine, f"power cut during a migration, {model}", known)
        recording.make(25, "migrate")
        begun = recording.position(disk.MARK, b"M")
        recording.cut(model, points(begun, len(recording.entries), max(amount // 2, 6)), counts, seed, f"migration, {model}")
        yield counts

    counts = common.Counts(engine, "power cut after a failed flush of the first opening", known)
    count_file = os.path.join(setting.folder, "count")
    recording.make(1, **{"class": "sync", "count": count_file})
    flushes, _ = common.counters(count_file)
    for at in range(1, min(flushes, max(amount // 3, 2)) + 1):
        recording.make(1, **{"class": "sync", "at": at, "error": "EIO", "mode": "once"})
        failed, end = recording.position(disk.SYNC_FAILED), len(recording.entries)
        every = range(failed, end + 1)
        # Every point, or a part of them for a short run: between the opening that follows the failure and the first acknowledgement.
        some = sorted(draw.sample(every, min(len(every), 2 * amount)))
        # Several images of each point while the files of the store are made: any of their names may be missing.
        some = sorted(some + 4 * list(every[:16]))
        for model in MODELS:
            recording.cut(model, some, counts, seed, f"flush {at} of {flushes} of the first opening fails, {model}")
    yield counts

    counts = common.Counts(engine, "power cut after a failed flush", known)
    count_file = os.path.join(setting.folder, "count")
    recording.make(60, **{"class": "sync", "count": count_file})
    flushes, _ = common.counters(count_file)
    per_run = 3
    ats = list(range(1, flushes + 1))
    draw.shuffle(ats)
    for at in ats[: max(amount // per_run, 2)]:
        recording.make(60, **{"class": "sync", "at": at, "error": "EIO", "mode": "once"})
        failed, end = recording.position(disk.SYNC_FAILED), len(recording.entries)
        # Directly after the failure, and at any point after it.
        some = sorted(points(failed, min(failed + 60, end), 1) + points(failed, end, per_run - 1))
        for model in MODELS:
            recording.cut(model, some, counts, seed, f"flush {at} of {flushes} fails, {model}")
    yield counts
