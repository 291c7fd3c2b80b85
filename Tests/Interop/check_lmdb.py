#!/usr/bin/env python3
"""Reads an LMDB store with Python's lmdb and checks all of it. With a data folder, compares an atlas with its files.

usage: check_lmdb.py STORE [DATA_FOLDER]
"""
import lmdb

from keyvalue import main


def read(path):
    with lmdb.open(path, subdir=False, readonly=True, lock=False) as environment, environment.begin() as transaction:
        return list(transaction.cursor())


main("LMDB", read)
