#!/usr/bin/env bash
# Installs the missing dependencies of the build: the C libraries of the storage engines, zlib, and PostgreSQL with its client library.
# Tries to install pgbouncer too, which only some tests need: without it they are skipped.
set -euo pipefail

say() { printf 'setup: %s\n' "$*"; }
fail() { printf 'setup: %s\n' "$*" >&2; exit 1; }

command -v swift >/dev/null 2>&1 || fail "Swift is missing. Install 6.2 or newer from https://www.swift.org/install and run this again."

case "$(uname -s)" in
Darwin)
    command -v brew >/dev/null 2>&1 || fail "Homebrew is missing, and LMDB and LevelDB come from it: https://brew.sh"
    for formula in sqlite3 lmdb leveldb zlib libpq postgresql; do
        brew list "$formula" >/dev/null 2>&1 && continue
        say "installing $formula with brew"
        brew install "$formula"
    done
    command -v pgbouncer >/dev/null 2>&1 || brew install pgbouncer || say "pgbouncer cannot be installed: its tests are skipped"
    ;;
Linux)
    missing=()
    if command -v dpkg-query >/dev/null 2>&1; then
        for package in libsqlite3-dev liblmdb-dev libleveldb-dev zlib1g-dev libpq-dev postgresql pkg-config; do
            dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
        done
        has_pgbouncer() { dpkg-query -W -f='${Status}' pgbouncer 2>/dev/null | grep -q 'install ok installed'; }
        if [ ${#missing[@]} -eq 0 ] && has_pgbouncer; then exit 0; fi
        root=()
        if [ "$(id -u)" -ne 0 ]; then
            if ! command -v sudo >/dev/null 2>&1; then
                [ ${#missing[@]} -eq 0 ] || fail "please install ${missing[*]} as root: apt-get install ${missing[*]}"
                say "pgbouncer is not installed: its tests are skipped"
                exit 0
            fi
            root=(sudo)
        fi
        install() { "${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$@" >/dev/null; }
        if [ ${#missing[@]} -gt 0 ]; then
            say "installing ${missing[*]} with apt-get"
            "${root[@]}" apt-get update -qq
            install "${missing[@]}"
        fi
        if ! has_pgbouncer; then
            say "installing pgbouncer with apt-get"
            install pgbouncer || { "${root[@]}" apt-get update -qq && install pgbouncer; } || say "pgbouncer cannot be installed: its tests are skipped"
        fi
    else
        for header in sqlite3.h lmdb.h leveldb/c.h zlib.h; do
            [ -e "/usr/include/$header" ] || fail "please install the development files of SQLite, LMDB, LevelDB and zlib with your package manager."
        done
    fi
    ;;
*) say "unknown system: please see to the development files of SQLite, LMDB, LevelDB and zlib yourself" ;;
esac
