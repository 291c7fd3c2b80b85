import EngineTestSupport
import PolyStoreBackend
import Testing

@testable import PolyStoreKeyValue

/// A change of the engine's keys, and the findings of `verify`.
struct Damage: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let findings: [String]
    let apply: @Sendable (Opened) throws -> Void

    init(_ name: String, _ findings: String..., apply: @escaping @Sendable (Opened) throws -> Void) {
        testDescription = name
        self.findings = findings
        self.apply = apply
    }

    private static func flip(_ opened: Opened, _ key: [UInt8], at offset: Int) throws {
        var value = try #require(opened.engine[key])
        value[offset < 0 ? value.count + offset : offset] ^= 0x10
        opened.engine[key] = value
    }

    private static func chunk(_ opened: Opened, _ id: Int64, _ number: Int) throws -> [UInt8] {
        let photo = try #require(try opened.store.entity("Person").field(named: "photo"))
        let keys = KeyWriter()
        return [UInt8](
            keys.chunk(opened.layout.number(of: try opened.store.entity("Person")), id, field: photo.index, number))
    }

    private static func link(_ opened: Opened, _ space: Keyspace, _ name: String, _ near: Int64, _ far: Int64) throws -> [UInt8] {
        let table = try #require(opened.store.schema.links.first { $0.name.contains(name) })
        return KeyWriter().linkBytes(space, opened.layout.number(of: table), near, far)
    }

    static let all: [Damage] = [
        Damage("an entry is missing", "The index Person_age has no entry for Person 5.") { opened in
            opened.engine[try opened.entry("Person_age", 5)] = nil
        },
        Damage("a unique entry is missing", "The index Person_email has no entry for Person 5.") { opened in
            opened.engine[try opened.entry("Person_email", 5)] = nil
        },
        Damage(
            "a unique entry is another's", "The index Person_email has no entry for Person 5.",
            "The index Person_email has an entry for Person 6 under another value."
        ) { opened in opened.engine[try opened.entry("Person_email", 5)] = opened.engine[try opened.entry("Person_email", 6)] },
        Damage("an entry of nothing", "The index Person_age leads to Person 9000, which is not there.") { opened in
            let keys = KeyWriter()
            keys.begin(.index, try opened.index("Person_age").number)
            keys.append(.integer(5), type: .int64)
            keys.append(id: 9000)
            opened.engine[keys.bytes] = []
        },
        Damage("an entry under another value", "The index Person_age has an entry for Person 5 under another value.") { opened in
            let keys = KeyWriter()
            keys.begin(.index, try opened.index("Person_age").number)
            keys.append(.integer(999), type: .int64)
            keys.append(id: 5)
            opened.engine[keys.bytes] = []
        },
        Damage("an entry without an id", "An entry of the index Person_age cannot be read.") { opened in
            opened.engine[try opened.index("Person_age").prefix + [0x05]] = []
        },
        Damage("a record's byte", "Person 5 in test engine is damaged: its checksum does not fit.") { opened in
            try flip(opened, try opened.record("Person", 5), at: -1)
        },
        Damage("a record's checksum", "Person 5 in test engine is damaged: its checksum does not fit.") { opened in
            try flip(opened, try opened.record("Person", 5), at: 9)
        },
        Damage("a record without its checksum", "Person 5 in test engine is damaged: its checksum does not fit.") { opened in
            let key = try opened.record("Person", 5)
            var value = try #require(opened.engine[key])
            value[1] &= ~1
            value[value.count - 1] ^= 0x10
            opened.engine[key] = value
        },
        Damage("a record in another's place", "Person 5 in test engine is damaged: its checksum does not fit.") { opened in
            opened.engine[try opened.record("Person", 5)] = opened.engine[try opened.record("Person", 6)]
        },
        Damage("an empty record", "Person 5 in test engine is damaged: its checksum does not fit.") { opened in
            opened.engine[try opened.record("Person", 5)] = []
        },
        Damage(
            "a record is gone", "There are 19 records of Person, and the statistics say 20.",
            "The index Person_age leads to Person 5, which is not there.",
            "The index Person_email leads to Person 5, which is not there."
        ) { opened in opened.engine[try opened.record("Person", 5)] = nil },
        Damage("a record of a linked object is gone", "links Person 1, which is not in the store.", "Person 2") { opened in
            opened.engine[try opened.record("Person", 1)] = nil
            opened.engine[try opened.record("Person", 2)] = nil
        },
        Damage("a key too long", "A key of Person has 14 bytes instead of 13.") { opened in
            opened.engine[try opened.record("Person", 5) + [0]] = opened.engine[try opened.record("Person", 5)]
        },
        Damage("a chunk is missing", "Person 1 in test engine is damaged: chunk 1 of photo is missing or damaged.") { opened in
            opened.engine[try chunk(opened, 1, 1)] = nil
        },
        Damage("a chunk's byte", "Person 1 in test engine is damaged: chunk 0 of photo is missing or damaged.") { opened in
            try flip(opened, try chunk(opened, 1, 0), at: 7)
        },
        Damage("chunks that changed places", "Person 1 in test engine is damaged: chunk 0 of photo is missing or damaged.") { opened in
            opened.engine[try chunk(opened, 1, 0)] = opened.engine[try chunk(opened, 1, 1)]
        },
        Damage("a chunk of a record without", "A chunk of a long value of Person 7 belongs to nothing.") { opened in
            opened.engine[try chunk(opened, 7, 0)] = opened.engine[try chunk(opened, 1, 0)]
        },
        Damage("a chunk behind the last", "A chunk of a long value of Person 1 belongs to nothing.") { opened in
            opened.engine[try chunk(opened, 1, 99)] = opened.engine[try chunk(opened, 1, 0)]
        },
        Damage(
            "a chunk of no entity", "A chunk of a long value belongs to no entity.",
            "1 keys belong to no entity, index or link table of the model."
        ) { opened in
            opened.engine[[Keyspace.blobChunk.rawValue, 0, 0, 0, 99] + [UInt8](repeating: 0, count: 16)] = [1]
        },
        Damage("a link without its reverse", "links 1 with 1 from one side only.") { opened in
            opened.engine[try link(opened, .linkInverse, "skills", 1, 1)] = nil
        },
        Damage("the other half of a link", "links 2 with 1 from one side only.") { opened in
            opened.engine[try link(opened, .link, "friends", 1, 2)] = nil
        },
        Damage("a link's key", "cannot be read.") { opened in
            opened.engine[try link(opened, .link, "friends", 1, 2) + [1]] = []
        },
        Damage("wrong statistics", "There are 20 records of Person, and the statistics say 21.") { opened in
            let key = Keyspace.Metadata.statistics.key(opened.layout.number(of: try opened.store.entity("Person")))
            opened.engine[key] = BigEndianInteger.bytes(Int64(21))
        },
        Damage("a named value's byte", "The value \"position\" cannot be read.") { opened in
            try flip(opened, Keyspace.Metadata.value.key(named: "position"), at: 0)
        },
        Damage("a named value in another's place", "The value \"position\" cannot be read.") { opened in
            opened.engine[Keyspace.Metadata.value.key(named: "position")] = opened.engine[Keyspace.Metadata.value.key(named: "other")]
        },
        Damage("a named value without its checksum", "The value \"position\" cannot be read.") { opened in
            opened.engine[Keyspace.Metadata.value.key(named: "position")] = []
        },
        Damage("a value without a name", "The name of a value cannot be read.") { opened in
            let key = Keyspace.Metadata.value.key(named: "")
            opened.engine[key] = SealedValue.sealed(key, [1])
        },
        Damage("a name that is not UTF-8", "The name of a value cannot be read.") { opened in
            let key = Keyspace.Metadata.value.key() + [0xff, 0xfe]
            opened.engine[key] = SealedValue.sealed(key, [1])
        },
        Damage("an entry of the change log", "Entry 1 of the change log cannot be read.") { opened in
            try flip(opened, ChangeLog.key(1), at: 3)
        },
        Damage("an entry of the change log in another's place", "Entry 1 of the change log cannot be read.") { opened in
            opened.engine[ChangeLog.key(1)] = opened.engine[ChangeLog.key(2)]
        },
        Damage("the end of an entry of the change log", "Entry 2 of the change log is not complete.") { opened in
            opened.engine[ChangeLog.key(2, 1)] = nil
        },
        Damage("the beginning of an entry of the change log", "Entry 2 of the change log has no beginning.") { opened in
            opened.engine[ChangeLog.key(2)] = nil
        },
        Damage("a key of the change log", "A key of the change log cannot be read.") { opened in
            opened.engine[[Keyspace.changeLog.rawValue, 0]] = []
        },
        Damage("the beginning of the change log", "is damaged: the beginning of the change log cannot be read.") { opened in
            opened.engine[Keyspace.Metadata.log.key()] = [1, 2]
        },
        Damage("keys without an owner", "4 keys belong to no entity, index or link table of the model.") { opened in
            opened.engine[[0xee]] = []
            opened.engine[[Keyspace.record.rawValue, 0, 0, 0, 77, 1]] = []
            opened.engine[[Keyspace.index.rawValue, 1]] = []
            opened.engine[[Keyspace.metadata.rawValue, 0x7e]] = []
        },
    ]
}
