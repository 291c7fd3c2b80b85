"""The copies of the product that mutants are planted in."""
import json
import pathlib
import subprocess

from harness.process import fail

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]
# SwiftPM links the plug-in of the macros again when it changes, and does not compile the files again that use them.
MACROS, USES = "Sources/PolyStoreMacros/", "@Model|#Unique|#Index"


def git(folder, *arguments):
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True)
    if done.returncode != 0:
        fail(f"git {' '.join(arguments)} in {folder}: {done.stderr.strip()}")
    return done.stdout.strip()


class Copy:
    """A clone that mutants are planted in."""

    def __init__(self, folder, backup):
        self.folder = folder
        # The originals of the changed files, in case the runner is killed.
        self.backup = backup
        self.restore()

    @staticmethod
    def clone(folder, backup, revision):
        """Makes or updates a clone. Unchanged files keep their times, so that the build stays incremental."""
        if not (folder / ".git").exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            git(folder.parent, "clone", "--quiet", "--shared", "--no-checkout", str(REPOSITORY), str(folder))
        copy = Copy(folder, backup)
        git(folder, "checkout", "--quiet", "--force", "--detach", revision)
        git(folder, "clean", "--quiet", "-fd")
        return copy

    def text(self, path):
        try:
            return (self.folder / path).read_bytes().decode("utf-8")
        except FileNotFoundError:
            return None

    def write(self, path, text):
        (self.folder / path).write_bytes(text.encode("utf-8"))

    def plant(self, mutants):
        """Plants mutants whose texts do not overlap."""
        originals = {mutant.file: self.text(mutant.file) for mutant in mutants}
        self.backup.parent.mkdir(exist_ok=True)
        self.backup.write_text(json.dumps(originals))
        for mutant in mutants:
            self.write(mutant.file, self.text(mutant.file).replace(mutant.old, mutant.new))
        self.touch_users(originals)

    def restore(self):
        if not self.backup.exists():
            return
        originals = json.loads(self.backup.read_text())
        for path, text in originals.items():
            if self.text(path) != text:
                self.write(path, text)
        self.touch_users(originals)
        self.backup.unlink()

    def touch_users(self, changed):
        """Lets the next build compile the users of the macros if one of the changed files is theirs."""
        if any(path.startswith(MACROS) for path in changed):
            for path in git(self.folder, "grep", "-lE", USES, "--", "*.swift").splitlines():
                (self.folder / path).touch()
