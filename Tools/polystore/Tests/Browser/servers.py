"""The stores that the tests open, and the servers of the browser on them."""
import os
import pathlib
import re
import shutil
import signal
import subprocess
import threading
import urllib.parse

# A tool that was built elsewhere can be tested with POLYSTORE_BROWSER_TOOL.
TOOL = os.environ.get("POLYSTORE_BROWSER_TOOL", ".build/debug/polystore")
# A limit for what ends in a second on an idle machine.
PATIENCE = 180


class Stores:
    """Stores in a temporary folder. A test that writes gets a copy."""

    def __init__(self, folder, atlas=None):
        self.folder = pathlib.Path(folder)
        self.copies = 0
        self.atlas = atlas
        subprocess.run([".build/debug/browser-stores", str(self.folder)], check=True, timeout=PATIENCE * 3)

    def path(self, name):
        path = self.folder / f"{name}.db"
        if name == "atlas" and not path.exists():
            if self.atlas:
                shutil.copy(self.atlas, path)
            else:
                command = [".build/debug/atlas", "sqlite", "--path", str(path)]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=PATIENCE * 3)
        return path

    def copy(self, name):
        self.copies += 1
        folder = self.folder / f"copy{self.copies}"
        folder.mkdir()
        for file in self.folder.glob(f"{name}.db*"):
            shutil.copy(file, folder)
        return folder / f"{name}.db"


class Server:
    """A process of `polystore browse`."""

    def __init__(self, store, write=False):
        self.store = store
        command = [TOOL, "browse", str(store), "--port", "0"] + (["--write"] if write else [])
        # A program in the background of a shell ignores SIGINT, and so would its children.
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        # A reader, so that a process that prints nothing does not block the test, and one that prints much is not blocked.
        self.lines, self.errors, self.printed = [], [], threading.Event()
        self.readers = [threading.Thread(target=self.read, args=part, daemon=True) for part in
                        ((self.process.stdout, self.lines), (self.process.stderr, self.errors))]
        for reader in self.readers:
            reader.start()
        if not self.printed.wait(PATIENCE) or not self.address:
            self.process.kill()
            raise AssertionError(f"{' '.join(command)} printed no address: {''.join(self.lines + self.errors)}")

    def read(self, stream, lines):
        for line in stream:
            lines.append(line)
            if re.search(r"http://\S+", line):
                self.printed.set()
        if stream is self.process.stdout:
            self.printed.set()

    @property
    def address(self):
        """The printed address, which has the token."""
        return next((found[0] for line in list(self.lines) + list(self.errors) if (found := re.search(r"http://\S+", line))), None)

    @property
    def parts(self):
        return urllib.parse.urlsplit(self.address)

    @property
    def origin(self):
        return f"http://{self.parts.netloc}"

    @property
    def token(self):
        return urllib.parse.parse_qs(self.parts.query)["token"][0]

    def stop(self):
        """Ends the process as Ctrl-C does. Returns its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        try:
            self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError("polystore browse did not end after an interruption") from None
        return self.process.returncode


def tool(*arguments, codes=(0,), **options):
    """Runs a command of the tool, which must end with one of some codes. Returns what it prints."""
    result = subprocess.run([TOOL, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, **options)
    assert result.returncode in codes, f"polystore {' '.join(map(str, arguments))}: {result.stderr}"
    return result.stdout
