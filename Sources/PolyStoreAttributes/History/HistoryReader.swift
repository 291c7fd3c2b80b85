import PolyStoreBackend

/// A decoder for history entries. Any bytes yield a value or an error, never a trap.
package struct HistoryReader {
    /// The error for bytes that are not a valid entry. The caller adds which entry it is.
    package struct Damage: Error {}

    private let bytes: ArraySlice<UInt8>
    private var offset: Int

    /// - Throws: ``Damage`` if the checksum does not match.
    package init(sealed bytes: [UInt8]) throws {
        guard bytes.count >= 6 else { throw Damage() }
        let body = bytes.dropLast(4)
        let sum = bytes.suffix(4).withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)) }
        guard body.withUnsafeBytes({ RecordChecksum.crc32c($0) }) == sum else { throw Damage() }
        self.bytes = body
        offset = body.startIndex
    }

    package var isAtEnd: Bool { offset == bytes.endIndex }

    package mutating func byte() throws -> UInt8 {
        guard offset < bytes.endIndex else { throw Damage() }
        defer { offset += 1 }
        return bytes[offset]
    }

    package mutating func number() throws -> UInt64 {
        var result: UInt64 = 0
        var shift: UInt64 = 0
        while true {
            let byte = try byte()
            // The tenth byte may contain only one bit.
            guard shift < 63 || shift == 63 && byte <= 1 else { throw Damage() }
            result |= UInt64(byte & 0x7f) << shift
            if byte < 0x80 { return result }
            shift += 7
        }
    }

    package mutating func signed() throws -> Int64 {
        let number = try number()
        return Int64(bitPattern: number >> 1) ^ -Int64(bitPattern: number & 1)
    }

    /// Reads a count of parts that take at least one byte each. The remaining bytes limit the count.
    package mutating func count() throws -> Int {
        guard let count = Int(exactly: try number()), count <= bytes.endIndex - offset else { throw Damage() }
        return count
    }

    private mutating func slice() throws -> ArraySlice<UInt8> {
        let count = try count()
        defer { offset += count }
        return bytes[offset..<offset + count]
    }

    package mutating func text() throws -> String {
        guard let text = String(validating: try slice(), as: UTF8.self) else { throw Damage() }
        return text
    }

    /// - Returns: `nil` for a value that was not recorded.
    package mutating func value() throws -> Value? {
        switch HistoryRecord.Tag(rawValue: try byte()) {
        case .absent: return Optional.none
        case .null: return .some(.null)
        case .integer: return .integer(try signed())
        case .real:
            var bits: UInt64 = 0
            for shift in stride(from: UInt64(0), to: 64, by: 8) { bits |= UInt64(try byte()) << shift }
            return .real(Double(bitPattern: bits))
        case .text: return .text(try text())
        case .blob: return .blob([UInt8](try slice()))
        case nil: throw Damage()
        }
    }
}

extension HistoryRecord {
    /// - Throws: ``HistoryReader/Damage`` for invalid bytes, `incompatibleSchema` for an entry of a later format.
    package init(_ bytes: [UInt8]) throws {
        var reader = try HistoryReader(sealed: bytes)
        self.init(head: try Head(&reader))
        let names = try (0..<reader.count()).map { _ in try reader.text() }
        func name() throws -> String {
            guard let index = Int(exactly: try reader.number()), names.indices.contains(index) else { throw HistoryReader.Damage() }
            return names[index]
        }
        for _ in 0..<(try reader.count()) {
            let entity = try name()
            let kindByte = try reader.byte()
            guard let kind = HistoryRecord.Kind(rawValue: kindByte & 0x7f) else { throw HistoryReader.Damage() }
            let keys = try (0..<reader.count()).map { _ in try name() }
            var last: Int64 = 0
            let ids = try (0..<reader.count()).map { _ in
                last = last &+ (try reader.signed())
                return last
            }
            var group = Group(entity: entity, kind: kind, keys: keys, ids: ids)
            if kindByte & 0x80 != 0 {
                let (count, isTooGreat) = keys.count.multipliedReportingOverflow(by: ids.count)
                guard !isTooGreat else { throw HistoryReader.Damage() }
                for _ in 0..<count { group.values.append(try reader.value()) }
            }
            groups.append(group)
        }
        guard reader.isAtEnd else { throw HistoryReader.Damage() }
    }

    /// Decodes an entry of a store's log.
    /// - Parameter location: The location of the store, for errors.
    /// - Throws: `corrupt` with the entry's position, `incompatibleSchema`.
    package init(_ entry: LogEntry, location: String) throws {
        do { try self.init(entry.bytes) } catch is HistoryReader.Damage {
            throw StoreError(
                .corrupt,
                "Entry \(entry.position) of the history of \(location) is damaged. Read the objects themselves; deleteHistory removes the entry.",
                location: location)
        }
    }
}

extension HistoryRecord.Head {
    init(_ reader: inout HistoryReader) throws {
        let format = try reader.byte()
        guard format <= HistoryRecord.format else {
            throw StoreError(
                .incompatibleSchema,
                "An entry of the history has format \(format), and this version reads up to \(HistoryRecord.format). Update the library.")
        }
        let flags = HistoryRecord.Flags(rawValue: try reader.byte())
        guard format == HistoryRecord.format, HistoryRecord.Flags.all.isSuperset(of: flags) else { throw HistoryReader.Damage() }
        self.init(
            base: try reader.number(), time: try reader.signed(), bytesBefore: Int64(bitPattern: try reader.number()),
            isInternal: flags.contains(.isInternal))
        author = flags.contains(.author) ? try reader.text() : nil
    }

    /// - Returns: `nil` for invalid bytes or an entry of a later format.
    package init?(of bytes: [UInt8]) {
        guard var reader = try? HistoryReader(sealed: bytes), let head = try? Self(&reader) else { return nil }
        self = head
    }
}
