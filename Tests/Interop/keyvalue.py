"""Reads a store of the record layer as docs/format.md specifies, and checks its consistency.

Independent of the engine: the input is all keys and values in order.
"""
import csv
import json
import pathlib
import struct
import sys

METADATA, RECORD, CHUNK, INDEX, UNIQUE, LINK, LINK_INVERSE = 0x00, 0x10, 0x11, 0x20, 0x21, 0x30, 0x31
PAGE, PAGE_CHUNK = 0x50, 0x51
LONGEST_KEY = 480
WIDTHS = {"bool": 1, "int8": 1, "uint8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4, "float": 4, "int64": 8, "uint64": 8, "double": 8, "date": 8}
FORMATS = {"bool": "<B", "int8": "<b", "uint8": "<B", "int16": "<h", "uint16": "<H", "int32": "<i", "uint32": "<I", "float": "<f", "int64": "<q", "uint64": "<Q", "double": "<d", "date": "<d"}
TEXTS = {"string", "url", "json"}


def fail(message):
    sys.exit(f"FAILED {message}")


def check(what, found, expected):
    if found != expected:
        fail(f"{what}: found {str(found)[:300]!r}, expected {str(expected)[:300]!r}")


def crc_table():
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        yield byte


CRC = list(crc_table())


def crc32c(*parts):
    state = 0xFFFFFFFF
    for part in parts:
        for byte in part:
            state = state >> 8 ^ CRC[(state ^ byte) & 255]
    return state ^ 0xFFFFFFFF


check("CRC-32C of 123456789", crc32c(b"123456789"), 0xE3069283)


def u32(value):
    return struct.pack(">I", value)


def id_bytes(value):
    return struct.pack(">Q", value + 2**63)


def read_id(data):
    return struct.unpack(">Q", data)[0] - 2**63


class Reader:
    """Reads a sequence of numbers, texts and values of the metadata."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        check("length of a value of the metadata", self.at + count <= len(self.data), True)
        self.at += count
        return self.data[self.at - count:self.at]

    def number(self, format):
        return struct.unpack(">" + format, self.take(struct.calcsize(">" + format)))[0]

    def items(self, read):
        return [read() for _ in range(self.number("I"))]

    def bytes(self):
        return self.take(self.number("I"))

    def value(self):
        tag = self.number("B")
        return {0: lambda: None, 1: lambda: self.number("q"), 2: lambda: self.number("d"), 3: self.bytes, 4: self.bytes}[tag]()

    def end(self):
        check("end of a value of the metadata", self.at, len(self.data))


class Layout:
    """The offsets of the fields of a record."""

    def __init__(self, types):
        self.types = types
        self.bitmap = (len(types) + 7) // 8
        self.fixed_length = sum(WIDTHS.get(type, 0) for type in types)
        self.variable = sum(type not in WIDTHS for type in types)
        self.heap = 12 + self.bitmap + self.fixed_length + 4 * self.variable

    def decode(self, where, number, key, value, chunk):
        """Returns the values of the fields, null as None. `chunk(field, number)` returns the chunks of long values."""
        format, flags, layout, fixed, variable, crc = struct.unpack_from("<BBHHHI", value)
        check(f"header of {where}", (format, flags & ~2, layout, fixed, variable), (1, 1, number, self.fixed_length, self.variable))
        check(f"checksum of the head of {where}", crc32c(key, value[:8], value[12:self.heap]), crc)
        check(f"checksum of the rest of {where}", crc32c(value[8:12], value[self.heap:-4]), struct.unpack("<I", value[-4:])[0])
        value = value[:-4]
        nulls = value[12:12 + self.bitmap]
        at, ends = 12 + self.bitmap, struct.unpack_from(f"<{variable}I", value, 12 + self.bitmap + fixed)
        long = {}
        if flags & 2:
            count = struct.unpack_from("<I", value, len(value) - 4)[0]
            for entry in range(count):
                field, length = struct.unpack_from("<IQ", value, len(value) - 4 - 12 * (count - entry))
                long[field] = length
        record, next_variable, start = [], 0, 0
        for ordinal, type in enumerate(self.types):
            is_null = nulls[ordinal >> 3] >> (ordinal & 7) & 1
            if type in WIDTHS:
                found = struct.unpack_from(FORMATS[type], value, at)[0]
                at += WIDTHS[type]
            else:
                end = ends[next_variable]
                found = value[self.heap + start:self.heap + end]
                start, next_variable = end, next_variable + 1
                if ordinal in long:
                    found, piece = b"", 0
                    while len(found) < long[ordinal]:
                        found += chunk(ordinal, piece)
                        piece += 1
                    check(f"length of {where} field {ordinal}", len(found), long[ordinal])
            record.append(None if is_null else found)
        check(f"length of {where}", len(value), self.heap + start + (12 * len(long) + 4 if long else 0))
        return record


class OldLayout:
    """A layout of earlier records, with the origins of the current fields."""

    def __init__(self, data):
        reader = Reader(data)
        self.layout = Layout(reader.items(lambda: reader.bytes().decode()))
        self.origins = reader.items(lambda: (None, reader.value()) if reader.number("B") == 0 else (reader.number("H"), reader.value()))
        reader.end()

    def translate(self, record):
        return [value if field is None or record[field] is None else record[field] for field, value in self.origins]


class Entity:
    """An entity of the model, with its record layout and its indexes."""

    def __init__(self, model, ordered=()):
        """`ordered` names the to-one relationships whose inverse is ordered."""
        self.name = model["name"]
        self.fields = []  # (name, type, is optional)
        self.to_many = []
        self.indexes = {}  # names of fields: is unique
        for kind, wrapped in (next(iter(p.items())) for p in model["properties"]):
            p = wrapped["_0"]
            if kind == "attribute":
                self.fields.append((p["name"], p["type"], p["isOptional"]))
                if p["isUnique"] or p["isIndexed"]:
                    self.add_index((p["name"],), p["isUnique"])
            elif p["isToMany"]:
                self.to_many.append(p)
            else:
                self.fields.append((p["name"], "int64", True))
                self.add_index((p["name"],) + (("_order_" + p["name"],) if p["name"] in ordered else ()), False)
        for index in model["indexes"]:
            self.add_index(tuple(index["fields"]), index["isUnique"])
        # Positions follow the fields of the model.
        self.fields += [("_order_" + name, "int64", True) for name, _, _ in self.fields if name in ordered]
        self.types = {name: type for name, type, _ in self.fields}
        self.layout = Layout([type for _, type, _ in self.fields])
        self.number, self.old = 0, {}  # the layout of new records, and the earlier ones

    def add_index(self, fields, is_unique):
        self.indexes[fields] = self.indexes.get(fields, False) or is_unique

    def decode(self, key, value, chunk):
        """Returns the values of a record by name, null as None. `chunk(field, number)` returns the chunks of long values."""
        where = f"{self.name} {read_id(key[5:])}"
        number = struct.unpack_from("<H", value, 2)[0]
        if number == self.number:
            values = self.layout.decode(where, number, key, value, chunk)
        else:
            old = self.old.get(number) or fail(f"{where} has the layout {number}, which is unknown")
            values = old.translate(old.layout.decode(where, number, key, value, chunk))
            self.translated += 1
        for (name, _, is_optional), value in zip(self.fields, values):
            if value is None and not is_optional:
                fail(f"{where} has no {name}")
        return {name: value for (name, _, _), value in zip(self.fields, values)}

    translated = 0

    def reserves(self, fields):
        reserve, found = 8, []
        for name in reversed(fields):
            found.insert(0, reserve)
            reserve += {"bool": 1, "decimal": 26, "uuid": 17}.get(self.types[name], 20 if self.types[name] not in WIDTHS else 9)
        return found

    def entry(self, number, fields, is_unique, record, id):
        """Returns the key and the value of a record's entry in an index."""
        key, has_null, is_cut = bytes([UNIQUE if is_unique else INDEX]) + u32(number), False, False
        for name, reserve in zip(fields, self.reserves(fields)):
            part, was_cut = component(self.types[name], record[name], len(key), reserve)
            key, is_cut, has_null = key + part, is_cut or was_cut, has_null or record[name] is None
        if not is_unique or has_null or is_cut:
            key += id_bytes(id)
        return key, id_bytes(id) if is_unique else b""


def component(type, value, used, reserve):
    """Returns one component of an index key, and whether it was truncated."""
    if value is None:
        return b"\x05", False
    if type == "bool":
        return bytes([0x10 + value]), False
    if type == "uint64":
        return b"\x15" + struct.pack(">Q", value), False
    if type in ("float", "double", "date"):
        tag = 0x1A if type == "date" else 0x22
        if value != value:
            return bytes([tag - 2]), False
        bits = struct.unpack(">Q", struct.pack(">d", value))[0]
        return bytes([tag]) + struct.pack(">Q", bits ^ (2**64 - 1 if bits >> 63 else 2**63)), False
    if type in WIDTHS:
        return b"\x14" + struct.pack(">Q", value + 2**63), False
    if type == "uuid":
        return b"\x28" + value, False
    tag = bytes([0x26 if type == "decimal" else 0x30 if type in TEXTS else 0x2C])
    room = LONGEST_KEY - used - 1 - reserve
    escaped = value.replace(b"\0", b"\0\xff")
    if len(escaped) + 2 <= room:
        return tag + escaped + b"\0\x01", False
    start = b""
    for byte in value:
        part = b"\0\xff" if byte == 0 else bytes([byte])
        if len(start) + len(part) > room - 10:
            break
        start += part
    return tag + start + b"\0\x02" + struct.pack(">Q", fnv1a(value)), True


def fnv1a(value):
    hash = 0xCBF29CE484222325
    for byte in value:
        hash = (hash ^ byte) * 0x100000001B3 % 2**64
    return hash


def unsealed(key, value):
    """Returns a value of the metadata without its checksum."""
    check(f"sum of {key.hex()}", value[-4:], u32(crc32c(key + value[:-4])))
    return value[:-4]


def model_hash(model):
    """Returns the hash that identifies the model of a store."""
    def number(value):
        return struct.pack(">q", value)

    def text(value):
        return number(len(value.encode())) + value.encode()

    def optional(value, encode):
        return b"\0" if value is None else b"\1" + encode(value)

    def flags(owner, *names):
        return bytes(owner[name] for name in names)

    def items(values, encode):
        return number(len(values)) + b"".join(encode(value) for value in values)

    def prop(value):
        (kind, value), = value.items()
        value = value["_0"]
        start = text(value["name"]) + optional(value.get("originalName"), text)
        if kind == "attribute":
            return b"\1" + start + text(value["type"]) + flags(value, "isOptional", "isUnique", "isIndexed")
        return (
            b"\2" + start + text(value["destination"]) + flags(value, "isToMany", "isOrdered") + optional(value.get("inverse"), text)
            + text(value["deleteRule"]) + flags(value, "isRequired") + number(value["minCount"]) + optional(value.get("maxCount"), number)
        )

    def index(value):
        return items(value["fields"], text) + flags(value, "isUnique")

    def entity(value):
        searches = b"".join(b"\5" + items(one["fields"], text) + text(one["options"]["stemming"]) for one in value.get("searchIndexes", []))
        return (
            text(value["name"]) + optional(value.get("originalName"), text) + items(value["properties"], prop) + items(value["indexes"], index)
            + searches
        )

    return fnv1a(items(sorted(model["entities"], key=lambda one: one["name"].encode()), entity))


def ordered_ends(entity, model):
    """Returns the to-one relationships of an entity whose inverse is ordered."""
    def relationships(entity):
        return [p["relationship"]["_0"] for p in entity["properties"] if "relationship" in p]

    found, entities = set(), {entity["name"]: entity for entity in model["entities"]}
    for mine in relationships(entity):
        for back in relationships(entities[mine["destination"]]):
            is_inverse = mine.get("inverse") == back["name"] or (back["destination"] == entity["name"] and back.get("inverse") == mine["name"])
            if not mine["isToMany"] and back["isToMany"] and back["isOrdered"] and is_inverse:
                found.add(mine["name"])
    return found


class Store:
    """The verified contents of a store."""

    def __init__(self, items):
        self.items = dict(items)
        check("journal of a migration", self.items.get(b"\0\x11"), None)
        self.has_searches = any(key[:2] == b"\0\x15" or key[:2] == b"\0\x14" and key[2] in (PAGE, PAGE_CHUNK) for key in self.items)
        # Keys marked for removal are not part of the store.
        removals = {key[2:] for key in self.items if key[:2] == b"\0\x14"}
        self.items = {key: value for key, value in self.items.items() if key[:5] not in removals}
        keys = list(self.items)
        check("order of the keys", keys, sorted(keys))
        check("lengths of the keys", all(2 <= len(key) <= LONGEST_KEY for key in keys), True)
        check("spaces", {key[0] for key in keys} - {METADATA, RECORD, CHUNK, INDEX, UNIQUE, LINK, LINK_INVERSE, PAGE, PAGE_CHUNK}, set())
        self.read_metadata()
        self.read_records()
        self.check_indexes()
        self.check_links()
        self.check_pages()

    def check_pages(self):
        """Checks that each page of a full-text index belongs to an index and has its checksum."""
        numbers = {number for number in self.metadata(0x15)}
        for number, value in self.metadata(0x15).items():
            unsealed(b"\0\x15" + u32(number), value)
        for key, value in self.items.items():
            if key[0] in (PAGE, PAGE_CHUNK):
                check(f"index of page {key.hex()}", struct.unpack(">I", key[1:5])[0] in numbers, True)
                check(f"sum of page {key.hex()}", value[-4:], struct.pack("<I", crc32c(key + value[:-4])))

    def space(self, space, number):
        prefix = bytes([space]) + u32(number)
        return {key: value for key, value in self.items.items() if key.startswith(prefix)}

    def metadata(self, kind):
        return {struct.unpack(">I", key[2:])[0]: value for key, value in self.items.items() if key[0] == METADATA and key[1] == kind and len(key) == 6}

    def read_metadata(self):
        has_layouts = any(key[:2] in (b"\0\x0e", b"\0\x0f", b"\0\x10") for key in self.items)
        check("format", self.items.get(b"\0\x01"), u32(3 if self.has_searches else 2 if has_layouts else 1))
        self.identity = unsealed(b"\0\x0a", self.items[b"\0\x0a"])
        model = json.loads(unsealed(b"\0\x02" + u32(1), self.metadata(2)[1]))
        check("hash of the model", self.identity[16:24], struct.pack(">Q", model_hash(model)))
        check("configuration", self.identity[24:], b"")
        self.entities = {entity["name"]: Entity(entity, ordered_ends(entity, model)) for entity in model["entities"]}
        self.numbers = {value.decode(): number for number, value in self.metadata(3).items()}
        check("entities", sorted(self.numbers), sorted(self.entities))
        names = {number: name for name, number in self.numbers.items()}
        for number, value in self.metadata(14).items():
            self.entities[names[number]].number = struct.unpack(">H", value)[0]
        for key, value in self.items.items():
            if key[:2] == b"\0\x0f":
                entity = self.entities[names[struct.unpack(">I", key[2:6])[0]]]
                old = entity.old[struct.unpack(">H", key[6:])[0]] = OldLayout(unsealed(key, value))
                check(f"fields of an old layout of {entity.name}", len(old.origins), len(entity.fields))
        self.reversed = set(self.metadata(16))
        self.statistics = {number: struct.unpack(">q", value)[0] for number, value in self.metadata(8).items()}
        self.sequences = {number: struct.unpack(">Q", value)[0] for number, value in self.metadata(4).items()}
        self.version = struct.unpack(">Q", self.items[b"\0\x09"])[0]
        self.values = {key[2:].decode(): unsealed(key, value) for key, value in self.items.items() if key[:2] == b"\0\x0c"}
        check("lengths of named values", all(1 <= len(name.encode()) <= 200 and len(value) <= 65536 for name, value in self.values.items()), True)
        self.link_numbers = {value.decode(): number for number, value in self.metadata(11).items()}
        links = {}
        for entity in self.entities.values():
            for relationship in entity.to_many:
                far = self.entities[relationship["destination"]]
                inverse = relationship.get("inverse") or next((r["name"] for r in far.to_many if r["destination"] == entity.name and r.get("inverse") == relationship["name"]), None)
                if inverse in far.types:
                    continue
                mine, theirs = f"{entity.name}_{relationship['name']}", f"{far.name}_{inverse}" if inverse else None
                if theirs is None or mine <= theirs:
                    back = next((r for r in far.to_many if r["name"] == inverse), None)
                    orders = relationship["isOrdered"], bool(back and mine != theirs and back["isOrdered"])
                    links[mine] = (entity.name, far.name, mine == theirs, orders)
        # An inverse that only the other side declares.
        self.links = {name: ends for name, ends in links.items() if name in self.link_numbers}
        check("link tables", sorted(self.link_numbers), sorted(self.links))

    def chunk(self, prefix):
        def read(field, number):
            key = bytes([CHUNK]) + prefix + u32(field) + u32(number)
            value = self.items.get(key) or fail(f"chunk {key.hex()} is missing")
            check(f"checksum of chunk {number}", crc32c(key, value[:-4]), struct.unpack("<I", value[-4:])[0])
            self.chunks_read.add(key)
            return value[:-4]

        return read

    def read_records(self):
        self.records, self.chunks_read = {}, set()
        for name, number in self.numbers.items():
            entity, found = self.entities[name], {}
            for key, value in self.space(RECORD, number).items():
                check(f"length of a key of {name}", len(key), 13)
                found[read_id(key[5:])] = entity.decode(key, value, self.chunk(key[1:]))
            check(f"statistics of {name}", self.statistics.get(number, 0), len(found))
            if found and number in self.sequences:
                check(f"ids of {name} below the sequence", max(found) < self.sequences[number], True)
            self.records[name] = found
        check("records of known entities", sum(map(len, self.records.values())), sum(key[0] == RECORD for key in self.items))
        check("chunks that belong to a record", self.chunks_read, {key for key in self.items if key[0] == CHUNK})

    def check_indexes(self):
        """Checks that every index entry belongs to a record, and that every record has all of its entries."""
        names, expected, entries = {number: name for name, number in self.numbers.items()}, set(), {}
        for number, value in self.metadata(6).items():
            phase, flags, entity = struct.unpack_from(">BBI", value)
            entity, fields, is_unique = self.entities[names[entity]], tuple(value[6:].decode().split("\0")), bool(flags & 2)
            check(f"phase of index {number}", phase, 1)
            check(f"index {entity.name} {fields}", entity.indexes.get(fields), is_unique)
            expected.add((entity.name, fields))
            for id, record in self.records[entity.name].items():
                key, value = entity.entry(number, fields, is_unique, record, id)
                entries[key] = value
        check("indexes", expected, {(e.name, fields) for e in self.entities.values() for fields in e.indexes})
        found = {key: value for key, value in self.items.items() if key[0] in (INDEX, UNIQUE)}
        check("entries of indexes that no record has", sorted(found.keys() - entries.keys())[:3], [])
        check("entries of records that no index has", sorted(entries.keys() - found.keys())[:3], [])
        check("ids in unique indexes", found, entries)
        self.entry_count = len(found)

    def check_links(self):
        self.pairs = {}
        for name, (source, target, is_symmetric, orders) in self.links.items():
            number = self.link_numbers[name]
            forward, backward = (LINK_INVERSE, LINK) if number in self.reversed else (LINK, LINK_INVERSE)
            for space, is_ordered in zip((forward, backward), orders):
                lengths = {len(value) for value in self.space(space, number).values()}
                check(f"positions in {name}", lengths - {8 if is_ordered else 0}, set())
            there = {(read_id(key[5:13]), read_id(key[13:])) for key in self.space(forward, number)}
            back = {(read_id(key[13:]), read_id(key[5:13])) for key in self.space(backward, number)}
            check(f"{name} from both sides", there, back)
            check(f"sources of {name}", {a for a, _ in there} - self.records[source].keys(), set())
            check(f"targets of {name}", {b for _, b in there} - self.records[target].keys(), set())
            if is_symmetric:
                check(f"{name} both ways", there, {(b, a) for a, b in there})
            self.pairs[name] = there
        check("links of known tables", 2 * sum(map(len, self.pairs.values())), sum(key[0] in (LINK, LINK_INVERSE) for key in self.items))

    def summary(self):
        counts = ", ".join(f"{len(records)} {name}" for name, records in sorted(self.records.items()))
        translated = sum(entity.translated for entity in self.entities.values())
        return f"version {self.version}, {counts} ({translated} in old layouts), {self.entry_count} index entries, {sum(map(len, self.pairs.values()))} links"


def text(value):
    return None if value is None else value.decode()


def check_atlas(store, folder):
    """Compares an atlas with its data files."""
    data = pathlib.Path(folder)
    continents, countries, cities = (json.loads((data / f"{name}.json").read_text()) for name in ("continents", "countries", "cities"))
    with open(data / "airports.csv", newline="") as file:
        airports = list(csv.DictReader(file))
    for name, rows in [("Continent", continents), ("Country", countries), ("City", cities), ("Airport", airports)]:
        check(f"count of {name}", len(store.records[name]), len(rows))
    iso = {id: text(record["iso"]) for id, record in store.records["Country"].items()}
    pairs = {(c["iso"], n) for c in countries for n in c["neighbours"]}
    pairs |= {(b, a) for a, b in pairs}
    check("neighbours", {(iso[a], iso[b]) for a, b in store.pairs["Country_neighbours"]}, pairs)
    found = {record["geonameID"]: record for record in store.records["City"].values()}
    for city in cities:
        record = found[city["geonameid"]]
        row = (text(record["name"]), record["latitude"], record["longitude"], record["population"], iso[record["country"]], json.loads(record["alternateNames"]))
        check(f"city {city['geonameid']}", row, (city["name"], city["latitude"], city["longitude"], city["population"], city["countrycode"], city["alternatenames"]))
    found = {text(record["code"]): record for record in store.records["Airport"].values()}
    for airport in airports:
        record = found[airport["icao"]]
        check(f"airport {airport['icao']}", (text(record["name"]), record["elevationFeet"], iso[record["country"]]), (airport["name"], float(airport["elevation"]), airport["country"]))


def main(engine, read):
    if len(sys.argv) not in (2, 3):
        fail(f"usage: {sys.argv[0]} STORE [DATA_FOLDER]")
    store = Store(read(sys.argv[1]))
    if len(sys.argv) == 3:
        check_atlas(store, sys.argv[2])
    print(f"interop: {engine} holds {store.summary()}, all as docs/format.md says{' and as in the files' if len(sys.argv) == 3 else ''}")
