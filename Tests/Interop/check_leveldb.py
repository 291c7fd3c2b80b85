#!/usr/bin/env python3
"""Reads a LevelDB store with plyvel and checks all of it. With a data folder, compares an atlas with its files.

usage: check_leveldb.py STORE [DATA_FOLDER]
"""
import pathlib
import shutil
import tempfile

import plyvel

from keyvalue import main


def read(path):
    # Opening a LevelDB store writes to it, so a copy is opened.
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "store"
        shutil.copytree(path, copy)
        database = plyvel.DB(str(copy), create_if_missing=False, paranoid_checks=True)
        try:
            return list(database.iterator(verify_checksums=True))
        finally:
            database.close()


main("LevelDB", read)
