"""Commands, and what the output of tests says."""
import os
import queue
import re
import signal
import subprocess
import threading
import time

# Set to end the run: no command is started any more, and the running ones are killed.
stopping = threading.Event()


class Failure(Exception):
    """An error that ends the run."""


def fail(message):
    raise Failure(message)


def kill(process):
    """Kills a process with its descendants, which may have process groups of their own but share its session."""
    members = [process.pid]
    if os.path.isdir("/proc"):
        for entry in os.listdir("/proc"):
            try:
                if entry.isdigit() and os.getsid(int(entry)) == process.pid:
                    members.append(int(entry))
            except OSError:
                pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        pass
    for member in members:
        try:
            os.kill(member, signal.SIGKILL)
        except OSError:
            pass


class Output:
    """The end of a command: exited, failed (a test has failed), silent, late or stopped."""

    def __init__(self):
        self.end = "exited"
        self.code = None
        self.failure = None
        self.lines = []
        self.longest_silence = 0.0
        self.seconds = 0.0


# The characters that color the output.
ANSI = re.compile(r"\x1b\[[0-9;]*m")
ISSUE = re.compile(r'✘ Test (?:case passing .* to )?(?P<name>"[^"]*"|\S+)(?P<middle>.*?) (?:recorded an issue(?P<rest>.*)|failed after .*)$')
XCTEST = re.compile(r"Test Case '(?P<name>.+)' failed")
CRASH = re.compile(r"error: .*signal code (?P<code>\d+)")


class TestFailure:
    """A failing test: its name with the arguments and the place, its function (None if it is unknown), and the message."""

    def __init__(self, name, function=None, message=None):
        self.name = name
        self.function = function
        self.message = message


def failure_in(line):
    """Returns the failing test if a line of `swift test` reports one."""
    match = XCTEST.search(line)
    if match:
        return TestFailure(match["name"])
    match = ISSUE.search(line)
    if not match or match["name"] == "run":
        return None
    name, rest = match["name"], match["rest"] or ""
    function = re.match(r"\w+(?=\()", name)
    place = re.search(r" at (?P<place>\S+\.swift:\d+)(?::\d+)?(?:: (?P<message>.*))?", rest)
    arguments = re.search(r" with \d+ arguments? (.*?) at \S+\.swift:\d+", rest)
    return TestFailure(
        name + (f" with {arguments[1]}" if arguments else "") + (f" ({place['place']})" if place else ""),
        function and function[0], place["message"][:400] if place and place["message"] else None)


def run(command, folder, environment, seconds, silence=None, stops_at_failure=False):
    """Runs a command to its end, or until a test fails, the time is over or nothing was printed for some time."""
    output = Output()
    started = spoke = time.monotonic()
    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        start_new_session=True)
    lines = queue.Queue()

    def read():
        for line in process.stdout:
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    try:
        while True:
            try:
                line = lines.get(timeout=0.5)
            except queue.Empty:
                line = b""
            now = time.monotonic()
            if stopping.is_set():
                output.end = "stopped"
                break
            if line is None:
                output.code = process.wait()
                break
            if line:
                output.longest_silence = max(output.longest_silence, now - spoke)
                spoke = now
                text = ANSI.sub("", line.decode("utf-8", "replace")).rstrip()
                output.lines.append(text)
                del output.lines[:-4000]
                if stops_at_failure:
                    output.failure = failure_in(text)
                    if output.failure:
                        output.end = "failed"
                        break
            if now - started > seconds:
                output.end = "late"
                break
            if silence and now - spoke > silence:
                output.end = "silent"
                break
    finally:
        kill(process)
        process.wait()
    output.seconds = time.monotonic() - started
    return output


def crash(output):
    """Describes the end of tests that failed without a failing test."""
    signals = [match["code"] for match in map(CRASH.search, output.lines) if match]
    fatal = [line.strip() for line in output.lines if "Fatal error" in line]
    what = f"a crash with signal {signals[-1]}" if signals else f"exit status {output.code}"
    last = fatal[-1] if fatal else next((line.strip() for line in reversed(output.lines) if line.strip()), "")
    return f"{what}: {last[:200]}" if last else what
