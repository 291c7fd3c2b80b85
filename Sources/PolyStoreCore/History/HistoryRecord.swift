import PolyStoreBackend

/// An entry of the history as a store keeps it: `docs/format.md` describes the bytes.
struct HistoryRecord: Sendable, Equatable {
    static let format: UInt8 = 1

    /// What the trimming of a history looks at.
    struct Head: Sendable, Equatable {
        /// The version of the store before the commit.
        var base: UInt64
        /// Microseconds since 1970.
        var time: Int64
        /// The bytes of all entries that were ever appended before this one.
        var bytesBefore: Int64
        /// Whether the entry only says that there was a commit, of ids that were reserved or of entries that were deleted: no transaction made it.
        var isInternal = false
        var author: String?
    }

    /// Objects of one entity to which the same was done.
    struct Group: Sendable, Equatable {
        var entity: String
        var kind: HistoryChange.Kind
        /// The changed properties; of a deletion with previous values those that have one.
        var keys: [String]
        var ids: [Int64]
        /// The previous values: one for each key of each id, id by id; nil: not recorded, of a to-many relationship. Empty: none was recorded.
        var values: [Value?] = []
    }

    var head: Head
    var groups: [Group] = []
}

extension HistoryRecord {
    struct Flags: OptionSet {
        let rawValue: UInt8
        static let author = Flags(rawValue: 1)
        static let isInternal = Flags(rawValue: 2)
        static let all: Flags = [.author, .isInternal]
    }

    /// The tags of previous values.
    enum Tag: UInt8 {
        case null, integer, real, text, blob, absent
    }

    func encoded() -> [UInt8] {
        var bytes = HistoryBytes()
        bytes.append(Self.format)
        var flags: Flags = head.isInternal ? .isInternal : []
        if head.author != nil { flags.insert(.author) }
        bytes.append(flags.rawValue)
        bytes.append(number: head.base)
        bytes.append(signed: head.time)
        bytes.append(number: UInt64(bitPattern: head.bytesBefore))
        if let author = head.author { bytes.append(text: author) }
        var names = NameTable()
        let numbers = groups.map { group in (names.number(group.entity), group.keys.map { names.number($0) }) }
        bytes.append(number: UInt64(names.names.count))
        for name in names.names { bytes.append(text: name) }
        bytes.append(number: UInt64(groups.count))
        for (group, (entity, keys)) in zip(groups, numbers) {
            bytes.append(number: UInt64(entity))
            bytes.append(group.kind.rawValue | (group.values.isEmpty ? 0 : 0x80))
            bytes.append(number: UInt64(keys.count))
            for key in keys { bytes.append(number: UInt64(key)) }
            bytes.append(number: UInt64(group.ids.count))
            var last: Int64 = 0
            for id in group.ids {
                bytes.append(signed: id &- last)
                last = id
            }
            for value in group.values { bytes.append(value) }
        }
        return bytes.sealed()
    }

    /// The names of an entry, each once.
    private struct NameTable {
        private(set) var names: [String] = []
        private var numbers: [String: Int] = [:]

        mutating func number(_ name: String) -> Int {
            if let number = numbers[name] { return number }
            numbers[name] = names.count
            names.append(name)
            return names.count - 1
        }
    }
}
