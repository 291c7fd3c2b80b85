import CRecordBytes
import PolyStoreBackend
import SeededRandom
import Testing

let allTypes = SchemaDescription(
    name: "All",
    entities: [
        EntityDescription(
            name: "All",
            properties: AttributeType.allCases.map { .attribute(AttributeDescription(name: $0.rawValue, type: $0, isOptional: true)) })
    ])

func value(_ type: AttributeType, _ random: inout SplitMix64) -> Value {
    switch type.physical {
    case .integer:
        guard let bounds = type.integerBounds else { return .integer(Int64(bitPattern: random.next())) }
        return .integer(bounds.lowerBound + Int64(random.next() % UInt64(bounds.upperBound - bounds.lowerBound + 1)))
    case .real: return .real(type == .float ? Double(Float(random.below(1000)) / 8) : Double(random.below(100_000)) / 7)
    case .text: return .text(String(repeating: "é", count: random.below(20)))
    case .blob: return .blob((0..<random.below(40)).map { UInt8(truncatingIfNeeded: $0) })
    }
}

@Suite struct RecordTests {
    private func entity() throws -> Entity { try ResolvedSchema(allTypes).entities[0] }

    private func build(_ entity: Entity, _ row: [Value], _ arena: RecordArena) throws -> (offset: Int, count: Int) {
        var builder = RecordBuilder(arena)
        builder.begin(entity.layout)
        for (field, value) in zip(entity.fields, row) { try builder.set(field, value) }
        return try builder.finish()
    }

    @Test func builtRecordsReadBackEqual() throws {
        let entity = try entity()
        var random = SplitMix64(seed: 1)
        let arena = RecordArena(capacity: 64)
        for _ in 0..<300 {
            let row = entity.fields.map { random.below(4) == 0 ? .null : value($0.type, &random) }
            let encoded = try build(entity, row, arena)
            let view = arena.view(encoded.offset, encoded.count, entity.layout)
            #expect(entity.fields.map { view.value($0) } == row)
            let checked = try RecordView(validating: view.bytes, layout: entity.layout)
            #expect(entity.fields.map { checked.value($0) } == row)
        }
    }

    /// The decoder is total: any bytes give a record or `corrupt`, and an accepted record can be read in every way.
    @Test func aRecordOfARowIsTheOneThatABuilderMakes() throws {
        let entity = try entity()
        var random = SplitMix64(seed: 7)
        let built = RecordArena()
        let ofRow = RecordArena(capacity: 64)
        for _ in 0..<500 {
            let row = entity.fields.map { random.below(4) == 0 ? Value.null : value($0.type, &random) }
            built.removeAll()
            let encoded = try build(entity, row, built)
            var record = RowRecord(ofRow, entity.layout)
            for (field, value) in zip(entity.fields, row) {
                switch value {
                case .null: record.setNull(field.index)
                case .integer(let value): record.setInteger(field.index, value)
                case .real(let value): record.setReal(field.index, value)
                case .text(let value): Array(value.utf8).withUnsafeBytes { record.appendBytes($0, ofRow) }
                case .blob(let value): value.withUnsafeBytes { record.appendBytes($0, ofRow) }
                }
            }
            let view = try record.finish(ofRow, entity.layout)
            #expect(view.bytes.elementsEqual(built.bytes(encoded.offset, encoded.count)))
        }
        #expect(throws: StoreError.self) { _ = try RowRecord(ofRow, entity.layout).finish(ofRow, entity.layout) }
    }

    /// Empty, non-ASCII and invalid UTF-8 text: truncated, overlong, a surrogate, too large, misplaced.
    private static let oddBytes: [[UInt8]] = [
        [], Array("é".utf8), Array("€".utf8), Array("😀".utf8), Array("é€😀é".utf8), [0xff], [0x80], [0xc3], [0xe2, 0x82],
        [0xf0, 0x9f, 0x98],
        [0xc1, 0xbf], [0xe0, 0x9f, 0xbf], [0xed, 0xa0, 0x80], [0xf0, 0x8f, 0xbf, 0xbf], [0xf4, 0x90, 0x80, 0x80], [0xf5, 0x80, 0x80, 0x80],
        [0xc3, 0xa9, 0xa9], [0xe2, 0x82, 0xac, 0xac],
    ]

    @Test func textOfEveryLengthIsRead() throws {
        let entity = try entity()
        let field = try #require(entity.fields.first { $0.type == .string })
        let arena = RecordArena()
        for count in 0..<40 {
            let plain = String(repeating: "x", count: count)
            // Non-ASCII and invalid bytes at each offset.
            for encoded in 0...count {
                for odd in Self.oddBytes {
                    var bytes = Array(plain.utf8)
                    bytes.insert(contentsOf: odd, at: encoded)
                    arena.removeAll()
                    var builder = RecordBuilder(arena)
                    builder.begin(entity.layout)
                    bytes.withUnsafeBytes { builder.setBytes(field.index, $0) }
                    let found = try builder.finishedView().string(field.index)
                    #expect(Array(found.utf8) == Array(String(decoding: bytes, as: UTF8.self).utf8))
                    #expect(found == String(decoding: bytes, as: UTF8.self))
                    #expect(found.hashValue == String(decoding: bytes, as: UTF8.self).hashValue)
                }
            }
        }
    }

    @Test func damagedBytesNeverTrap() throws {
        let entity = try entity()
        var random = SplitMix64(seed: 2)
        let arena = RecordArena()
        var refused = 0
        for round in 0..<20_000 {
            arena.removeAll()
            let encoded = try build(entity, entity.fields.map { random.below(5) == 0 ? .null : value($0.type, &random) }, arena)
            var bytes = [UInt8](arena.bytes(encoded.offset, encoded.count))
            for _ in 0...random.below(4) {
                switch random.below(4) {
                case 0: if !bytes.isEmpty { bytes[random.below(bytes.count)] ^= UInt8(1 << random.below(8)) }
                case 1: bytes.removeLast(min(bytes.count, random.below(60)))
                case 2: bytes.append(contentsOf: (0..<random.below(20)).map { _ in UInt8(truncatingIfNeeded: random.next()) })
                default: for _ in 0..<random.below(8) where !bytes.isEmpty { bytes[random.below(bytes.count)] = 0xff }
                }
            }
            bytes.withUnsafeBytes { bytes in
                do {
                    let view = try RecordView(validating: bytes, layout: entity.layout)
                    for field in entity.fields {
                        _ = (view.isNull(field.index), view.integer(field.index), view.real(field.index), view.value(field))
                        let inside = view.bytes(field.index)
                        if let start = inside.baseAddress, let base = bytes.baseAddress {
                            #expect(start >= base && start + inside.count <= base + bytes.count, "round \(round)")
                        }
                    }
                } catch let error as StoreError {
                    refused += 1
                    #expect(error.code == .corrupt)
                } catch {
                    Issue.record("\(error)")
                }
            }
        }
        #expect(refused > 1000)
    }

    @Test func outOfOrderIsMisuse() throws {
        let entity = try entity()
        let arena = RecordArena()
        var builder = RecordBuilder(arena)
        builder.begin(entity.layout)
        let text = try #require(entity.field(named: "string"))
        let earlier = try #require(entity.field(named: "decimal"))
        builder.setText(text.index, "x")
        try builder.set(earlier, .blob([1]))
        #expect(throws: StoreError.self) { try builder.finish() }
        #expect(arena.count == 0)
        // The builder remains usable.
        builder.begin(entity.layout)
        builder.setText(text.index, "y")
        let encoded = try builder.finish()
        #expect(arena.view(encoded.offset, encoded.count, entity.layout).string(text.index) == "y")
    }

    @Test func aValueOfAnotherTypeIsRefused() throws {
        let entity = try entity()
        var builder = RecordBuilder(RecordArena())
        builder.begin(entity.layout)
        #expect(throws: StoreError.self) { try builder.set(entity.fields[0], .text("1")) }
    }

    @Test func aLargeValueMovesTheArena() throws {
        let entity = try entity()
        let arena = RecordArena(capacity: 64)
        let text = try #require(entity.field(named: "string"))
        var builder = RecordBuilder(arena)
        var places: [(offset: Int, count: Int)] = []
        for size in [0, 10, 100_000, 3] {
            builder.begin(entity.layout)
            builder.setText(text.index, String(repeating: "x", count: size))
            places.append(try builder.finish())
        }
        #expect(places.map { arena.view($0.offset, $0.count, entity.layout).bytes(text.index).count } == [0, 10, 100_000, 3])
    }
}

@Suite struct ChecksumTests {
    @Test func theProcessorsInstructionAndTheTableAgree() {
        let bytes = (0..<300).map { UInt8(truncatingIfNeeded: $0 &* 197 &+ 13) }
        bytes.withUnsafeBytes { bytes in
            for start in 0..<9 {
                for count in [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 63, 64, 65, 70, 279] {
                    let at = bytes.baseAddress.map { $0 + start }
                    #expect(polystore_crc32c(77, at, count) == polystore_crc32c_portable(77, at, count))
                    // The checksum of a record covers the key, then all bytes but 8 to 11.
                    var parts = polystore_crc32c_portable(~0, bytes.baseAddress, start)
                    parts = polystore_crc32c_portable(parts, at, 8)
                    parts = polystore_crc32c_portable(parts, at.map { $0 + 12 }, count)
                    #expect(polystore_crc32c_head(bytes.baseAddress, start, at, count + 12) == ~parts)
                    // The same for a batch of records, whose bytes do not include their checksums.
                    var (keys, records) = ([bytes.baseAddress], [at])
                    #expect(polystore_crc32c_heads(&keys, start, &records, count + 12, 1) == 0)
                }
            }
        }
    }

    /// The vector of RFC 3720, appendix B.4, and the usual check value.
    @Test func knownVectors() {
        #expect([UInt8]("123456789".utf8).withUnsafeBytes { RecordChecksum.crc32c($0) } == 0xe306_9283)
        #expect([UInt8](repeating: 0, count: 32).withUnsafeBytes { RecordChecksum.crc32c($0) } == 0x8a91_36aa)
        #expect([UInt8](repeating: 0xff, count: 32).withUnsafeBytes { RecordChecksum.crc32c($0) } == 0x62a8_ab43)
        #expect([UInt8](0..<32).withUnsafeBytes { RecordChecksum.crc32c($0) } == 0x46dd_794e)
    }

    @Test func everyBitFlipAndAnyOtherKeyIsFound() throws {
        let entity = try ResolvedSchema(allTypes).entities[0]
        var random = SplitMix64(seed: 3)
        let arena = RecordArena()
        var builder = RecordBuilder(arena)
        builder.begin(entity.layout)
        for field in entity.fields { try builder.set(field, value(field.type, &random)) }
        let encoded = try builder.finish()
        let head = entity.layout.minimumSize
        var bytes = [UInt8](arena.bytes(encoded.offset, encoded.count)) + [UInt8](repeating: 0, count: RecordChecksum.tailSize)
        let key: [UInt8] = [0x10, 0, 0, 0, 1, 0x80]
        key.withUnsafeBytes { key in bytes.withUnsafeMutableBytes { RecordChecksum.seal($0, head: head, key: key) } }
        func isSound(_ key: [UInt8]) -> (head: Bool, rest: Bool, all: Bool) {
            key.withUnsafeBytes { key in
                bytes.withUnsafeBytes {
                    (
                        RecordChecksum.verifyHead($0, head: head, key: key), RecordChecksum.verifyRest($0, head: head),
                        RecordChecksum.verify($0, head: head, key: key)
                    )
                }
            }
        }
        #expect(isSound(key) == (true, true, true))
        #expect(isSound([0x10, 0, 0, 0, 1, 0x81]) == (false, true, false))
        for bit in 0..<bytes.count * 8 {
            bytes[bit / 8] ^= 1 << (bit % 8)
            let sound = isSound(key)
            #expect(!sound.all, "bit \(bit)")
            // The first checksum covers the head; the second covers the rest and the head's checksum.
            #expect(sound.head == (bit / 8 >= head), "bit \(bit)")
            #expect(sound.rest == (bit / 8 < head && !(8..<12).contains(bit / 8)), "bit \(bit)")
            bytes[bit / 8] ^= 1 << (bit % 8)
        }
    }

    @Test func theRestOfAnotherVersionIsFound() throws {
        let entity = try ResolvedSchema(allTypes).entities[0]
        let head = entity.layout.minimumSize
        let key: [UInt8] = [0x10, 1]
        func sealed(_ number: Int64, _ text: String) throws -> [UInt8] {
            let arena = RecordArena()
            var builder = RecordBuilder(arena)
            builder.begin(entity.layout)
            builder.setInteger(try #require(entity.field(named: "int64")).index, number)
            builder.setText(try #require(entity.field(named: "string")).index, text)
            let encoded = try builder.finish()
            var bytes = [UInt8](arena.bytes(encoded.offset, encoded.count)) + [0, 0, 0, 0]
            key.withUnsafeBytes { key in bytes.withUnsafeMutableBytes { RecordChecksum.seal($0, head: head, key: key) } }
            return bytes
        }
        let (one, other) = (try sealed(1, "abc"), try sealed(2, "xyz"))
        let mixed = Array(one[..<head]) + Array(other[head...])
        mixed.withUnsafeBytes { mixed in
            #expect(key.withUnsafeBytes { RecordChecksum.verifyHead(mixed, head: head, key: $0) })
            #expect(!RecordChecksum.verifyRest(mixed, head: head))
        }
    }
}

@Suite struct MaskTests {
    @Test func holdsEveryFieldIndex() {
        var mask = FieldMask()
        #expect(mask.isEmpty)
        for fieldIndex in [0, 63, 64, 127, 128, 191, 192, 255] {
            #expect(!mask.contains(fieldIndex))
            mask.insert(fieldIndex)
            #expect(mask.contains(fieldIndex))
        }
        #expect(mask.indexes == [0, 63, 64, 127, 128, 191, 192, 255])
        #expect(FieldMask(first: 65).indexes == Array(0..<65))
        var other = FieldMask(first: 2)
        other.formUnion(mask)
        #expect(other.indexes == [0, 1, 63, 64, 127, 128, 191, 192, 255])
        #expect(other != mask)
    }
}

@Suite struct ValueTests {
    @Test func equalityFollowsTheSemantics() {
        #expect(Value.real(.nan) == .real(-.nan))
        #expect(Value.real(-0.0) == .real(0))
        #expect(Value.text("\u{e9}") != .text("e\u{301}"))
        #expect(Value.integer(1) != .real(1))
        #expect(Set([Value.real(.nan), .real(-.nan), .real(0), .real(-0.0), .text("\u{e9}"), .text("e\u{301}")]).count == 4)
    }

    @Test func doublesAreTotallyOrdered() {
        let ascending: [Double] = [.nan, -.infinity, -1, -.leastNonzeroMagnitude, 0, .leastNonzeroMagnitude, 1, .infinity]
        for (i, left) in ascending.enumerated() {
            for (j, right) in ascending.enumerated() { #expect(Order.of(left, right).signum() == (i - j).signum(), "\(left) \(right)") }
        }
    }
}
