import PolyStoreBackend

/// The state that a MANIFEST describes: the tables of a database, and the first log with commits that no table contains.
struct LevelDBManifest {
    struct Table: Hashable {
        let level: UInt64
        let number: UInt64
    }

    private(set) var comparator: String?
    private(set) var logNumber: UInt64?
    private(set) var previousLogNumber: UInt64 = 0
    private(set) var nextFile: UInt64?
    private(set) var lastSequence: UInt64?
    /// The size of each table in bytes.
    private(set) var tables: [Table: UInt64] = [:]
    /// The position at which the file becomes unreadable.
    private(set) var end: LevelDBLogFile.Break?
    /// The offset of the last edit that was applied.
    private var lastEdit = 0

    init(reading file: LevelDBLogFile) throws {
        end = try file.readRecords(keeping: .max) { payload, _, offset in
            guard apply(payload) else { return false }
            lastEdit = offset
            return true
        }
    }

    /// Creates the state before the last edit of another state, as if that edit had not been completed.
    init(reading file: LevelDBLogFile, beforeLastEditOf state: LevelDBManifest) throws {
        _ = try file.readRecords(keeping: .max) { payload, _, offset in offset < state.lastEdit && apply(payload) }
        end = LevelDBLogFile.Break(record: state.lastEdit, fragment: state.end?.fragment ?? file.size)
    }

    /// Applies a version edit.
    /// - Returns: `false`, without effect, for bytes that are not a version edit.
    private mutating func apply(_ edit: [UInt8]) -> Bool {
        var result = self
        var fields = LevelDBFields(edit)
        while !fields.isAtEnd {
            guard let tag = fields.number() else { return false }
            switch tag {
            case 1:
                guard let name = fields.bytes() else { return false }
                result.comparator = String(decoding: name, as: UTF8.self)
            case 2:
                guard let number = fields.number() else { return false }
                result.logNumber = number
            case 3:
                guard let number = fields.number() else { return false }
                result.nextFile = number
            case 4:
                guard let number = fields.number() else { return false }
                result.lastSequence = number
            case 5:
                // The start of the next compaction of a level.
                guard fields.number() != nil, fields.bytes() != nil else { return false }
            case 6:
                guard let level = fields.number(), let number = fields.number() else { return false }
                result.tables[Table(level: level, number: number)] = nil
            case 7:
                guard let level = fields.number(), let number = fields.number(), let size = fields.number(), fields.bytes() != nil,
                    fields.bytes() != nil
                else { return false }
                // LevelDB writes removed tables before added ones.
                result.tables[Table(level: level, number: number)] = size
            case 9:
                guard let number = fields.number() else { return false }
                result.previousLogNumber = number
            default: return false
            }
        }
        self = result
        return true
    }
}

/// Reads LevelDB's variable-length numbers and byte strings.
struct LevelDBFields {
    private let source: [UInt8]
    private var position = 0

    init(_ source: [UInt8]) { self.source = source }

    var isAtEnd: Bool { position == source.count }

    mutating func number() -> UInt64? {
        var number: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            guard position < source.count else { return nil }
            let byte = source[position]
            position += 1
            number |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return number }
        }
        return nil
    }

    mutating func bytes() -> ArraySlice<UInt8>? {
        guard let count = number(), count <= UInt64(source.count - position) else { return nil }
        defer { position += Int(count) }
        return source[position..<position + Int(count)]
    }
}
