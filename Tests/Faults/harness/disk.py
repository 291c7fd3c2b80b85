"""The contents of a disk after a power failure, derived from the operation log of the preload library.

A page of a file has the contents of the last flush or of any write since, because the system writes pages back at any time. A failed flush makes nothing
durable, and the next flush does not write its pages either, because the system has marked them clean. Names follow one of two models:

ordinary  Changes of names become durable in order; flushing any file makes all earlier ones durable (a journal).
strict    A change of a name becomes durable when its folder is flushed; until then it may be missing. After a failed flush of a folder the next one can succeed, unlike for
          the pages of files.
"""

import os
import random
import struct

PAGE = 4096
SECTOR = 512
ENTRY = struct.Struct("<IiqqQ")
OPEN, CLOSE, WRITE, SYNC, SYNC_FAILED, TRUNCATE, RENAME, UNLINK, MKDIR, RMDIR, LINK, MARK = range(1, 13)
O_CREAT, O_TRUNC = 0o100, 0o1000


def operations(path):
    """Reads an operation log, except a truncated last entry."""
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at + ENTRY.size <= len(data):
        operation, descriptor, offset, argument, count = ENTRY.unpack_from(data, at)
        at += ENTRY.size
        if at + count > len(data):
            return
        yield operation, descriptor, offset, argument, data[at : at + count]
        at += count


class File:
    """The current bytes of a file, its durable bytes, and the versions of each page in between."""

    def __init__(self):
        self.now = bytearray()
        self.durable = {}
        self.durable_size = 0
        # Page number to versions, oldest first.
        self.dirty = {}
        # Like dirty, for pages whose flush failed: a later flush does not make them durable.
        self.lost = {}
        self.sizes = []
        # The durable contents before a truncation, which remain possible until the next flush.
        self.older = []

    def _page(self, number):
        return bytes(self.now[number * PAGE : (number + 1) * PAGE]).ljust(PAGE, b"\0")

    def write(self, offset, data, is_synchronous):
        end = offset + len(data)
        if len(self.now) < end:
            self.now.extend(b"\0" * (end - len(self.now)))
        self.now[offset:end] = data
        for number in range(offset // PAGE, (end + PAGE - 1) // PAGE):
            page = self._page(number)
            if is_synchronous:
                self.durable[number] = page
                self.dirty.pop(number, None)
                self.lost.pop(number, None)
            else:
                versions = self.dirty.setdefault(number, self.lost.pop(number, []))
                versions.append(page)
                if len(versions) > 12:
                    del versions[random.Random(len(self.now)).randrange(len(versions) - 1)]
        if is_synchronous:
            self.durable_size = max(self.durable_size, end)
            self.sizes = [size for size in self.sizes if size > self.durable_size]
        elif not self.sizes or self.sizes[-1] != len(self.now):
            self.sizes.append(len(self.now))

    def truncate(self, size):
        if size < len(self.now):
            # The file system truncates atomically: the disk has the file before or after it.
            self.older = (self.older + [self.frozen()])[-3:]
            del self.now[size:]
            edge = size // PAGE
            for pages in (self.durable, self.dirty, self.lost):
                for number in [number for number in pages if number * PAGE >= size]:
                    del pages[number]
                if size % PAGE and edge in pages:
                    cut = lambda page: page[: size % PAGE].ljust(PAGE, b"\0")
                    pages[edge] = cut(pages[edge]) if isinstance(pages[edge], bytes) else [cut(page) for page in pages[edge]]
            self.durable_size = min(self.durable_size, size)
            self.sizes = [min(each, size) for each in self.sizes]
        else:
            self.now.extend(b"\0" * (size - len(self.now)))
        self.sizes.append(size)

    def frozen(self):
        return (
            dict(self.durable), self.durable_size, {number: list(versions) for number, versions in self.dirty.items()},
            {number: list(versions) for number, versions in self.lost.items()}, list(self.sizes),
        )

    def sync(self):
        for number in self.dirty:
            self.durable[number] = self._page(number)
        self.dirty = {}
        self.durable_size = len(self.now)
        self.sizes = []
        self.older = []

    def sync_failed(self):
        for number, versions in self.dirty.items():
            self.lost[number] = versions
        self.dirty = {}

    def image(self, draw, keep):
        """Returns the bytes after a power failure. `keep` is the probability that an unflushed page is on the disk."""
        durable, durable_size, dirty, lost, sizes = self.frozen()
        if self.older and draw.random() < 0.3:
            durable, durable_size, dirty, lost, sizes = draw.choice(self.older)
        size = durable_size
        if sizes and draw.random() < max(keep, 0.3):
            size = sizes[-1] if draw.random() < 0.5 else draw.choice(sizes)
        pages = dict(durable)
        for some in (dirty, lost):
            for number, versions in some.items():
                if draw.random() >= keep:
                    continue
                version = versions[-1] if draw.random() < 0.7 else draw.choice(versions)
                if draw.random() < 0.15:
                    # Torn: some sectors new, some old.
                    old = bytearray(pages.get(number, b"\0" * PAGE))
                    for sector in range(0, PAGE, SECTOR):
                        if draw.random() < 0.5:
                            old[sector : sector + SECTOR] = version[sector : sector + SECTOR]
                    version = bytes(old)
                pages[number] = version
        bytes_ = bytearray(size)
        for number, page in pages.items():
            start = number * PAGE
            if start < size:
                part = page[: size - start]
                bytes_[start : start + len(part)] = part
        return bytes(bytes_)


class Folder:
    pass


class Disk:
    def __init__(self, root, model):
        self.root = root
        self.model = model
        self.names = {root: Folder()}
        self.durable = dict(self.names)
        # Changes of names that are not durable: (function, parents that must be flushed, whether a name is added).
        self.pending = []
        self.descriptors = {}
        self.marks = []

    def _change(self, change, *paths, adds=False):
        change(self.names)
        self.pending.append((change, {os.path.dirname(path) for path in paths}, adds))

    def _flushed(self, node):
        if self.model == "ordinary":
            for change, _, _ in self.pending:
                change(self.durable)
            self.pending = []
        elif isinstance(node, Folder):
            flushed = {path for path, each in self.names.items() if each is node}
            rest = []
            for change, parents, adds in self.pending:
                if parents <= flushed:
                    change(self.durable)
                else:
                    rest.append((change, parents, adds))
            self.pending = rest

    def apply(self, operation, descriptor, offset, argument, payload):
        if operation == OPEN:
            path = payload.decode()
            node = self.names.get(path)
            if node is None:
                node = Folder() if os.path.isdir(path) and not argument & O_CREAT else File()
                if argument & O_CREAT:
                    self._change(lambda names: names.__setitem__(path, node), path, adds=True)
            elif argument & O_TRUNC and isinstance(node, File) and len(node.now):
                node.truncate(0)
            self.descriptors[descriptor] = node
        elif operation == CLOSE:
            self.descriptors.pop(descriptor, None)
        elif operation == MARK:
            self.marks += payload.decode().splitlines()
        elif operation == RENAME:
            old, new = (part.decode() for part in payload.split(b"\0"))

            def rename(names):
                if old in names:
                    for path in [path for path in names if path == old or path.startswith(old + "/")]:
                        names[new + path[len(old) :]] = names.pop(path)

            self._change(rename, old, new)
        elif operation == LINK:
            old, new = (part.decode() for part in payload.split(b"\0"))
            self._change(lambda names: old in names and names.__setitem__(new, names[old]), new, adds=True)
        elif operation in (UNLINK, RMDIR):
            path = payload.decode()
            self._change(lambda names: names.pop(path, None), path)
        elif operation == MKDIR:
            path = payload.decode()
            folder = Folder()
            self._change(lambda names: names.__setitem__(path, folder), path, adds=True)
        else:
            node = self.descriptors.get(descriptor)
            if isinstance(node, File):
                if operation == WRITE:
                    node.write(offset, payload, argument == 1)
                elif operation == TRUNCATE:
                    node.truncate(offset)
                elif operation == SYNC:
                    node.sync()
                elif operation == SYNC_FAILED:
                    node.sync_failed()
            if operation == SYNC and node is not None:
                self._flushed(node)

    def make(self, target, seed):
        """Writes an image of the disk to a folder."""
        draw = random.Random(seed)
        names = dict(self.durable)
        if self.model == "ordinary":
            for change, _, _ in self.pending[: draw.randint(0, len(self.pending))]:
                change(names)
        else:
            # Or only new names are missing, such as that of SQLite's log after a journal was removed.
            kept, kept_new = draw.choice(((0.0, 0.0), (0.5, 0.5), (0.9, 0.9), (1.0, 0.0)))
            for change, _, adds in self.pending:
                if draw.random() < (kept_new if adds else kept):
                    change(names)
        keep = draw.choice((0.0, 0.3, 0.7, 1.0))
        for path in sorted(names):
            place = target + path[len(self.root) :]
            node = names[path]
            # A file whose folder is missing is missing too. The index of SQLite's log is rebuilt after a restart.
            if place.endswith("-shm") or (path != self.root and os.path.dirname(path) not in names):
                continue
            if isinstance(node, Folder):
                os.makedirs(place, exist_ok=True)
            else:
                with open(place, "wb") as file:
                    file.write(node.image(draw, keep))
