"""Installs Chromium and playwright, and continues in the Python of the folder where playwright is."""
import os
import pathlib
import shutil
import subprocess
import sys

PACKAGES = ["playwright==1.65.2", "axe-playwright-python==0.1.8"]
FOLDER = pathlib.Path(".build/browser-python")
NAMES = ["chromium", "chromium-browser", "google-chrome"]


def chromium():
    """Returns the path of Chromium; None if it is not installed."""
    # Some systems have a command of that name that only says how to install it.
    paths = [os.environ.get("POLYSTORE_CHROMIUM"), *map(shutil.which, NAMES)]
    return next((path for path in paths if path and subprocess.run([path, "--version"], capture_output=True).returncode == 0), None)


def prepare():
    """Installs what is missing. Returns why that is not possible; None if everything is there."""
    if sys.prefix == str(FOLDER.resolve()):
        return None
    reason = install_chromium() or install_packages()
    if reason:
        return reason
    python = FOLDER / "bin/python"
    os.execv(python, [str(python), *sys.argv])


def install_chromium():
    if chromium():
        return None
    if not shutil.which("apt-get") or os.geteuid() != 0:
        return "Chromium is missing, and only root can install it. Install the package chromium."
    environment = dict(os.environ, DEBIAN_FRONTEND="noninteractive")
    for command in (["apt-get", "install", "-y", "-qq", "chromium"], ["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "chromium"]):
        subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        if chromium():
            return None
    return "Chromium cannot be installed with apt-get."


def install_packages():
    # The list is written last, so that an interrupted installation is repeated.
    listing = FOLDER / "packages.txt"
    if listing.exists() and listing.read_text().split() == PACKAGES:
        return None
    shutil.rmtree(FOLDER, ignore_errors=True)
    commands = [[sys.executable, "-m", "venv", str(FOLDER)], [str(FOLDER / "bin/python"), "-m", "pip", "install", "--quiet", *PACKAGES]]
    for command in commands:
        if subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
            return f"`{' '.join(command)}` failed."
    listing.write_text("\n".join(PACKAGES))
    return None
