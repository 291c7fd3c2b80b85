"""A server of PostgreSQL in a temporary folder, with a Unix socket, that ends with the program."""

import glob
import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time


class Server:
    """Runs a server as an unprivileged user. Its commits reach the disk unless `syncs` is false."""

    def __init__(self, syncs=True, port=None):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
        self.bin = os.environ.get("POLYSTORE_POSTGRESQL") or (found[-1] if found else None)
        if not self.bin:
            sys.exit("PostgreSQL was not found. Install it (apt-get install postgresql), or name the folder of its programs in POLYSTORE_POSTGRESQL.")
        self.user = next((name for name in ("postgres", "nobody") if has_user(name)), None) if os.geteuid() == 0 else None
        self.folder = tempfile.mkdtemp(prefix="bench-pg-")
        os.chmod(self.folder, 0o755)
        if self.user:
            shutil.chown(self.folder, self.user)
        self.port = port
        self.run("initdb", "-D", self.data, "-U", "polystore", "-E", "UTF8", "--locale=C", "-A", "trust", "--no-sync")
        settings = ["-k", self.folder, "-c", "listen_addresses=" + ("127.0.0.1" if port else ""), "-c", "max_connections=400", "-c", "fsync=" + ("on" if syncs else "off")]
        settings += ["-c", "shared_buffers=512MB", "-c", "max_wal_size=8GB", "-c", "checkpoint_timeout=1h", "-c", "autovacuum=off", "-c", "log_min_messages=fatal"]
        settings += ["-p", str(port)] if port else []
        self.process = subprocess.Popen(
            self.command("postgres", "-D", self.data, *settings), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")
        for _ in range(600):
            if subprocess.run([self.bin + "/pg_isready", "-q", "-h", self.folder] + (["-p", str(port)] if port else [])).returncode == 0:
                return
            time.sleep(0.1)
        self.stop()
        sys.exit("The server in %s does not answer." % self.folder)

    @property
    def data(self):
        return self.folder + "/data"

    def command(self, name, *arguments):
        account = []
        if self.user:
            account = ["setpriv", "--reuid=" + self.user, "--regid=" + ("nogroup" if self.user == "nobody" else self.user), "--clear-groups"]
        return account + [self.bin + "/" + name] + list(arguments)

    def run(self, name, *arguments):
        subprocess.run(self.command(name, *arguments), check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, cwd="/")

    def environment(self, port=None):
        """The variables that name the server to `bench` and to the peer. With a port, over TCP to this machine."""
        if port:
            return {"BENCH_POSTGRESQL": "postgresql://polystore@127.0.0.1:%d/postgres" % port, "PB_POSTGRESQL": "host=127.0.0.1 port=%d user=polystore dbname=postgres" % port}
        host = self.folder.replace("/", "%2F")
        suffix = " port=%d" % self.port if self.port else ""
        return {
            "BENCH_POSTGRESQL": "postgresql://polystore@%s%s/postgres" % (host, ":%d" % self.port if self.port else ""),
            "PB_POSTGRESQL": "host=%s user=polystore dbname=postgres%s" % (self.folder, suffix)}

    def psql(self, sql):
        port = ["-p", str(self.port)] if self.port else []
        command = [self.bin + "/psql", "-h", self.folder] + port + ["-U", "polystore", "-d", "postgres", "-X", "-q", "-A", "-t", "-c", sql]
        quiet = dict(os.environ, PGOPTIONS="-c client_min_messages=warning")
        return subprocess.run(command, check=True, env=quiet, stdout=subprocess.PIPE, text=True).stdout.strip()

    def cpu(self):
        """The CPU time of the server and of all its processes so far, in seconds."""
        parent = self.process.pid
        ticks = 0
        for path in glob.glob("/proc/[0-9]*/stat"):
            try:
                with open(path) as file:
                    fields = file.read().rpartition(")")[2].split()
            except OSError:
                continue
            # Processes that have ended count for the one that waited for them.
            if int(path.split("/")[2]) == parent:
                ticks += sum(int(field) for field in fields[11:15])
            elif int(fields[1]) == parent:
                ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def stop(self):
        self.process.send_signal(3)
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def has_user(name):
    try:
        pwd.getpwnam(name)
        return True
    except KeyError:
        return False
