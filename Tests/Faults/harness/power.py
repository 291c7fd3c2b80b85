"""Power cuts: images of the disk at points of an operation log."""

import os
import random
import shutil

import common
import disk

MODELS = ("ordinary", "strict")


def cut(setting, engine, log, root, model, points, counts, seed, note):
    """Checks an image at each of the points, which are numbers of operations in ascending order."""
    state = disk.Disk(root, model)
    images = []
    wanted = {}
    for point in points:
        wanted[point] = wanted.get(point, 0) + 1
    made = 0

    def flush():
        verdicts = common.check(setting, engine, [(path, floor, ceiling) for path, floor, ceiling, _ in images])
        for (path, _, _, told), verdict in zip(images, verdicts):
            counts.add(verdict, told)
            shutil.rmtree(os.path.dirname(path), ignore_errors=True)
        images.clear()

    for position, operation in enumerate(disk.operations(log)):
        state.apply(*operation)
        for each in range(wanted.get(position, 0)):
            image = setting.fresh(f"image-{made}")
            made += 1
            state.make(image, f"{seed} {position} {each}")
            floor, ceiling = state.bounds()
            images.append((os.path.join(image, "store"), floor, ceiling, f"{note}, operation {position}, image {each}"))
        if len(images) >= 25:
            flush()
    flush()


def run(setting, engine, amount, seed, known):
    """Random points of a sound run, in each model; the same for the first opening; and for runs in which one flush failed."""
    results = []
    draw = random.Random(f"power {engine} {seed}")
    root, log, marks = setting.fresh("run"), os.path.join(setting.folder, "log"), os.path.join(setting.folder, "marks")

    def record(last, **settings):
        for path in (log, marks):
            if os.path.exists(path):
                os.remove(path)
        setting.fresh("run")
        ended = common.write(setting, engine, root, last, marks, log=log, **settings)
        return ended, sum(1 for _ in disk.operations(log))

    for model in MODELS:
        counts = common.Counts(engine, f"power cut, {model}", known)
        ended, total = record(150)
        if ended:
            counts.add(ended, "write")
        points = sorted(draw.randrange(total) for _ in range(amount))
        cut(setting, engine, log, root, model, points, counts, seed, f"seed {seed}, power cut, {model}")
        results.append(counts)

        counts = common.Counts(engine, f"power cut during the first opening, {model}", known)
        ended, total = record(1)
        points = sorted(draw.randrange(total) for _ in range(max(amount // 3, 4)))
        cut(setting, engine, log, root, model, points, counts, seed, f"seed {seed}, first opening, {model}")
        results.append(counts)

    counts = common.Counts(engine, "power cut after a failed flush", known)
    count_file = os.path.join(setting.folder, "count")
    record(60, **{"class": "sync", "count": count_file})
    flushes, _ = common.counters(count_file)
    per_run = 4
    for each in range(max(amount // per_run, 2)):
        at = draw.randrange(1, flushes + 1)
        ended, total = record(60, **{"class": "sync", "at": at, "error": "EIO", "mode": "once"})
        note = f"seed {seed}, flush {at} of {flushes} fails"
        if ended:
            counts.add(ended, note)
        wrong = common.bounds(marks)[2]
        if wrong:
            counts.add(f"wrong {wrong}", note)
        points = sorted(draw.randrange(total) for _ in range(per_run))
        cut(setting, engine, log, root, "ordinary", points, counts, f"{seed} {each}", note)
    results.append(counts)
    return results
