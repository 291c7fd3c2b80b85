"""Processes that reset, open and write one store at the same time."""

import os
import subprocess

import common


def start(setting, *arguments, **more):
    return subprocess.Popen(
        [setting.child, *map(str, arguments)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8",
        errors="replace", **more)


def made(setting, engine, last):
    store = os.path.join(setting.fresh("run"), "store")
    marks = os.path.join(setting.folder, "marks")
    common.remove(marks)
    common.ended([setting.child, "write", engine, store, str(last)], dict(os.environ, FAULTS_MARKS=marks))
    return store


def checked(setting, engine, store, ids):
    process = start(setting, "check-reset", engine, store, *ids)
    output, errors = process.communicate()
    return output.strip() or common.told(process.returncode, errors)


def racing_resets(setting, engine, rounds, known):
    counts = common.Counts(engine, "six processes reset at once", known)
    acknowledged = 0
    for number in range(rounds):
        store = made(setting, engine, 5)
        processes = [start(setting, "reset", engine, store, id) for id in range(1, 7)]
        ids, problem = [], None
        for process in processes:
            output, errors = process.communicate()
            ids += [int(line[2:]) for line in output.splitlines() if line.startswith("A ")]
            refused = [line for line in output.splitlines() if line.startswith("E ")]
            if process.returncode:
                problem = common.told(process.returncode, errors)
            elif refused:
                problem = problem or "unopenable " + refused[0]
        acknowledged += len(ids)
        verdict = checked(setting, engine, store, ids)
        counts.add(verdict if verdict != "ok" else problem or "ok", f"round {number}: {len(ids)} acknowledged")
    return counts


def reset_under_a_holder(setting, engine, rounds, known):
    counts = common.Counts(engine, "reset while another process has the store open", known)
    for number in range(rounds):
        store = made(setting, engine, 8)
        holder = start(setting, "hold", engine, store)
        ready = holder.stdout.readline()
        other = start(setting, "try-reset", engine, store, 1)
        output, _ = other.communicate()
        is_reset = "A 1" in output
        told, errors = holder.communicate("reset\n" if is_reset else "go\n")
        note = f"round {number}: the other said {output.strip()!r}, the holder {ready.strip()!r} and {told.strip()!r}"
        if holder.returncode or other.returncode:
            verdict = common.told(holder.returncode or other.returncode, errors)
        elif " wrong " in told:
            verdict = "wrong " + told.replace("\n", "; ")
        elif is_reset:
            verdict = checked(setting, engine, store, [1])
            if verdict == "ok" and "commit right" in told:
                verdict = "lost: a commit to the store that was reset was acknowledged"
            elif verdict == "ok" and "\nread right" in told:
                verdict = "wrong: a new snapshot of the store that was reset was given"
        elif "commit right" not in told:
            verdict = "unopenable: neither of them could use the store"
        else:
            verdict = common.check(setting, engine, [(store, (9, 9, 0))])[0]
        counts.add(verdict, note)
    return counts


def openings(setting, engine, rounds, known):
    """Opens from several processes. LevelDB allows one at a time and reports `busy` to the others."""
    counts = common.Counts(engine, "opening while another process writes", known)
    # Files and maps grow repeatedly.
    large = dict(os.environ, FAULTS_SCALE="12")
    for number in range(rounds):
        root = setting.fresh("run")
        store = os.path.join(root, "store")
        marks = os.path.join(setting.folder, "marks")
        common.remove(marks)
        made_first = common.ended([setting.child, "write", engine, store, "1"], dict(large, FAULTS_MARKS=marks))
        writer = start(setting, "write", engine, store, 150, env=dict(large, FAULTS_MARKS=marks))
        openers = [start(setting, "open", engine, store, 60, env=large) for _ in range(3)]
        for opener in openers:
            output, errors = opener.communicate()
            for line in output.splitlines():
                counts.add(line if not (engine == "leveldb" and " busy:" in line) else "busy", f"round {number}")
            if opener.returncode:
                counts.add(common.told(opener.returncode, errors), f"round {number}")
        _, errors = writer.communicate()
        if writer.returncode or made_first:
            counts.add(common.told(writer.returncode, errors) or made_first, f"round {number}: the writer")
        told = common.lines(marks)
        verdict = common.wrong(told) or common.check(setting, engine, [(store, common.bounds(told))], environment=large)[0]
        counts.add(verdict, f"round {number}: the end")
    return counts


def run(setting, engine, amount, seed, known):
    rounds = max(amount // 10, 2)
    yield racing_resets(setting, engine, rounds, known)
    yield reset_under_a_holder(setting, engine, max(rounds // 4, 1), known)
    yield openings(setting, engine, rounds, known)
