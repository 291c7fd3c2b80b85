"""Damaged files: every result of the store is correct or an error."""

import os
import random
import shutil

import common

PAGE = 4096


def flip(data, draw):
    at = draw.randrange(len(data))
    data[at] ^= 1 << draw.randrange(8)
    return f"bit of byte {at} flipped"


def flip_in_first_page(data, draw):
    at = draw.randrange(min(len(data), PAGE))
    data[at] ^= 1 << draw.randrange(8)
    return f"bit of byte {at} flipped"


def zero(data, draw):
    count = draw.choice((16, 512, PAGE))
    at = draw.randrange(len(data)) // count * count
    data[at : at + count] = b"\0" * len(data[at : at + count])
    return f"{count} bytes from {at} zeroed"


def cut(data, draw):
    at = draw.randrange(len(data))
    if draw.random() < 0.5:
        at = at // PAGE * PAGE
    del data[at:]
    return f"cut to {at} bytes"


def swap(data, draw):
    size = draw.choice((1024, PAGE))
    if len(data) < 2 * size:
        return flip(data, draw)
    first, second = (draw.randrange(len(data) // size) * size for _ in range(2))
    data[first : first + size], data[second : second + size] = data[second : second + size], data[first : first + size]
    return f"pages of {size} bytes at {first} and {second} swapped"


def garbage(data, draw):
    at = draw.randrange(len(data))
    count = min(64, len(data) - at)
    data[at : at + count] = draw.randbytes(count)
    return f"{count} random bytes from {at}"


WAYS = (flip, flip, flip_in_first_page, zero, cut, swap, garbage)


def files(store):
    if os.path.isfile(store):
        folder, name = os.path.split(store)
        paths = [os.path.join(folder, each) for each in sorted(os.listdir(folder)) if each.startswith(name)]
    else:
        paths = [os.path.join(store, each) for each in sorted(os.listdir(store))]
    # Skips lock files, the index of SQLite's log, which the first opening rebuilds, and LevelDB's LOG, which is informational.
    return [
        path for path in paths if os.path.getsize(path) and not path.endswith(("-shm", "-lock", "/LOCK", "/LOG", "/LOG.old"))
    ]


def run(setting, engine, amount, seed, known):
    for command, name in (("write", "damage after closing"), ("leave", "damage after a kill")):
        draw = random.Random(f"{name} {engine} {seed}")
        root, marks = setting.fresh("run"), os.path.join(setting.folder, "marks")
        common.remove(marks)
        common.ended([setting.child, command, engine, os.path.join(root, "store"), "90"], dict(os.environ, FAULTS_MARKS=marks))
        head, _, _ = common.bounds(common.lines(marks))
        counts = common.Counts(engine, name, known)
        images, notes = [], []

        def flush():
            verdicts = common.check(setting, engine, images, "damage")
            for (path, _), verdict, note in zip(images, verdicts, notes):
                counts.add(verdict, note)
                shutil.rmtree(os.path.dirname(path))
            images.clear()
            notes.clear()

        whole = files(os.path.join(root, "store"))
        for number in range(amount):
            image = os.path.join(setting.folder, f"image-{number}")
            shutil.copytree(root, image)
            # Half in proportion to size, half in rotation, to include small files.
            sizes = [os.path.getsize(path) for path in whole]
            victim = whole[number % len(whole)] if number % 2 else draw.choices(whole, sizes)[0]
            path = image + victim[len(root) :]
            with open(path, "rb") as file:
                data = bytearray(file.read())
            # Opening a missing main file creates a new store.
            if draw.random() < 0.02 and victim != os.path.join(root, "store"):
                os.remove(path)
                note = "removed"
            else:
                note = draw.choice(WAYS)(data, draw)
                with open(path, "wb") as file:
                    file.write(data)
            images.append((os.path.join(image, "store"), (head, head, 0)))
            notes.append(f"{os.path.basename(path)}: {note} (seed {seed}, {command} up to commit {head}, image {number})")
            if len(images) >= 40:
                flush()
        flush()
        yield counts
