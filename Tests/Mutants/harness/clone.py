"""The copies of the product that mutants are planted in."""
import json
import pathlib
import subprocess

from harness.process import fail

REPOSITORY = pathlib.Path(__file__).resolve().parents[3]


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

    def restore(self):
        if not self.backup.exists():
            return
        for path, text in json.loads(self.backup.read_text()).items():
            if self.text(path) != text:
                self.write(path, text)
        self.backup.unlink()
