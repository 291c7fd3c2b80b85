#!/usr/bin/env python3
"""Lists the `package` declarations of the object layer that one module uses of another, in API/package.txt, so that a wider border is a visible difference.

usage: scripts/package-symbols.py [--check | --unused]               after a debug build with tests

Each line names the declaring module, the declaration, and the modules that use it, without `PolyStore`. The uses are read from the index that the compiler writes.
Without an option the file is written. With --check it is compared, and a difference ends the program with an error. With --unused the `package` declarations that no
other target uses are printed.
"""
import collections
import ctypes
import difflib
import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys

# public-api.py, whose name no import statement can contain.
_specification = importlib.util.spec_from_file_location("public_api", pathlib.Path(__file__).with_name("public-api.py"))
public_api = importlib.util.module_from_spec(_specification)
_specification.loader.exec_module(public_api)

MODULES = ["PolyStoreConditions", *public_api.PARTS["PolyStoreCore"]]
STORE = ".build/debug/index/store"
FILE = pathlib.Path("API/package.txt")
RECORD, REFERENCE = 2, 1 << 2


class Text(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("length", ctypes.c_size_t)]

    def __str__(self):
        return ctypes.string_at(self.data, self.length).decode()


VISITOR = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, ctypes.c_void_p)
UNIT_VISITOR = ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_void_p, Text)
# The functions of libIndexStore that are used, of the header indexstore/indexstore.h: their results and arguments.
FUNCTIONS = {
    "store_create": (ctypes.c_void_p, [ctypes.c_char_p, ctypes.c_void_p]),
    "store_units_apply_f": (ctypes.c_bool, [ctypes.c_void_p, ctypes.c_uint, ctypes.c_void_p, UNIT_VISITOR]),
    "unit_reader_create": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]),
    "unit_reader_dispose": (None, [ctypes.c_void_p]),
    "unit_reader_get_main_file": (Text, [ctypes.c_void_p]),
    "unit_reader_get_module_name": (Text, [ctypes.c_void_p]),
    "unit_reader_dependencies_apply_f": (ctypes.c_bool, [ctypes.c_void_p, ctypes.c_void_p, VISITOR]),
    "unit_dependency_get_kind": (ctypes.c_int, [ctypes.c_void_p]),
    "unit_dependency_get_name": (Text, [ctypes.c_void_p]),
    "record_reader_create": (ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]),
    "record_reader_dispose": (None, [ctypes.c_void_p]),
    "record_reader_occurrences_apply_f": (ctypes.c_bool, [ctypes.c_void_p, ctypes.c_void_p, VISITOR]),
    "occurrence_get_symbol": (ctypes.c_void_p, [ctypes.c_void_p]),
    "occurrence_get_roles": (ctypes.c_uint64, [ctypes.c_void_p]),
    "symbol_get_usr": (Text, [ctypes.c_void_p]),
}


def library():
    compiler = pathlib.Path(os.path.realpath(shutil.which("swiftc") or sys.exit("swiftc is missing")))
    for folder in (compiler.parent.parent / "lib", compiler.parent.parent / "usr/lib"):
        for name in ("libIndexStore.so", "libIndexStore.dylib"):
            if (folder / name).exists():
                found = ctypes.CDLL(str(folder / name))
                for function, (result, arguments) in FUNCTIONS.items():
                    entry = getattr(found, "indexstore_" + function)
                    entry.restype, entry.argtypes = result, arguments
                return lambda function: getattr(found, "indexstore_" + function)
    sys.exit("The toolchain has no libIndexStore. Install a complete toolchain from https://swift.org/install, or Xcode.")


def uses():
    """Returns the modules that refer to each declaration, by its USR."""
    call = library()
    if not os.path.isdir(STORE):
        sys.exit(f"{STORE} is missing; run `swift build --build-tests` first")
    store = call("store_create")(STORE.encode(), None)
    units, found = [], collections.defaultdict(set)
    call("store_units_apply_f")(store, 0, None, UNIT_VISITOR(lambda _, name: units.append(str(name)) or True))
    for name in units:
        unit = call("unit_reader_create")(store, name.encode(), None)
        if not unit:
            continue
        # The index keeps the units of files that are gone.
        module, file, records = str(call("unit_reader_get_module_name")(unit)), str(call("unit_reader_get_main_file")(unit)), []
        if os.path.exists(file):

            def visit(_, dependency):
                if call("unit_dependency_get_kind")(dependency) == RECORD:
                    records.append(str(call("unit_dependency_get_name")(dependency)))
                return True

            call("unit_reader_dependencies_apply_f")(unit, None, VISITOR(visit))
        call("unit_reader_dispose")(unit)

        def see(_, occurrence):
            if call("occurrence_get_roles")(occurrence) & REFERENCE:
                found[str(call("symbol_get_usr")(call("occurrence_get_symbol")(occurrence)))].add(module)
            return True

        for record in records:
            reader = call("record_reader_create")(store, record.encode(), None)
            if reader:
                call("record_reader_occurrences_apply_f")(reader, None, VISITOR(see))
                call("record_reader_dispose")(reader)
    return found


def declarations():
    """Yields the module, the name and the USR of each `package` declaration."""
    triple = public_api.target()
    for module in MODULES:
        for symbol in public_api.symbols(module, triple, access="package"):
            if symbol["accessLevel"] == "package":
                yield module, ".".join(symbol["pathComponents"]), symbol["identifier"]["precise"]


def main():
    mode = sys.argv[1] if len(sys.argv) > 1 else "--write"
    if mode not in ("--write", "--check", "--unused"):
        sys.exit(__doc__)
    found, lines = uses(), set()
    for module, name, usr in declarations():
        users = sorted(user for user in found[usr] if user != module)
        if mode == "--unused":
            if not users:
                lines.add(f"{module} {name}\n")
            continue
        users = [user.removeprefix("PolyStore") for user in users if user in MODULES]
        if users:
            lines.add(f"{module.removeprefix('PolyStore')} {name} <- {', '.join(users)}\n")
    lines = sorted(lines)
    if mode == "--unused":
        print("".join(lines) + f"{len(lines)} package declarations are used by no other target")
    elif mode == "--write":
        FILE.write_text("".join(lines))
        print(f"{FILE}: {len(lines)} declarations")
    else:
        kept = FILE.read_text().splitlines(keepends=True) if FILE.exists() else []
        difference = list(difflib.unified_diff(kept, lines, str(FILE), "the build"))
        sys.stdout.writelines(difference)
        if difference:
            sys.exit("The borders of the modules differ from the listing. Run scripts/package-symbols.py, and commit the difference if it is meant.")


main()
