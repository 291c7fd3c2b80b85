import PolyStoreBackend
import PolyStoreKeyValue
import SeededRandom
import Testing

private func key(_ value: Value, _ type: AttributeType, descending: Bool = false) -> [UInt8] {
    let writer = KeyWriter()
    writer.append(value, type: type, descending: descending)
    return writer.bytes
}

private func sign(_ left: [UInt8], _ right: [UInt8]) -> Int {
    left.withUnsafeBytes { left in right.withUnsafeBytes { Order.of(left, $0).signum() } }
}

private func value(_ type: AttributeType, _ random: inout SplitMix64) -> Value {
    if random.below(12) == 0 { return .null }
    switch type {
    case .bool: return .integer(Int64(random.below(2)))
    case .int8, .int16, .int32, .int64:
        return .integer([.min, .max, -1, 0, 1, Int64(bitPattern: random.next()), Int64(random.below(100)) - 50][random.below(7)])
    case .uint8, .uint16, .uint32, .uint64: return .integer([0, 1, -1, .min, .max, Int64(bitPattern: random.next())][random.below(6)])
    case .float, .double, .date:
        return .real(
            [
                .nan, -.infinity, .infinity, 0, -0.0, .leastNonzeroMagnitude, -1, 1, Double(bitPattern: random.next()),
                Double(random.below(1000)) / 7,
            ][random.below(10)])
    case .string, .url, .json:
        let scalars: [UnicodeScalar] = ["\u{0}", "a", "b", "\u{1}", "\u{ff}", "\u{ffff}", "\u{10ffff}"]
        return .text(String(String.UnicodeScalarView((0..<random.below(6)).map { _ in scalars[random.below(7)] })))
    case .data: return .blob((0..<random.below(6)).map { _ in [0, 1, 2, 127, 254, 255][random.below(6)] })
    case .uuid: return .blob((0..<16).map { _ in [0, 1, 255][random.below(3)] })
    case .decimal:
        let digits = (0...random.below(3)).map { _ in UInt8(1 + random.below(100)) }
        let positive: [UInt8] = [0x81, 0x80, UInt8(random.below(3))] + digits + [0]
        return [.blob([0x7e]), .blob([0x80]), .blob(positive), .blob([0x7f] + positive.dropFirst().map { ~$0 })][random.below(4)]
    }
}

@Suite struct KeyTests {
    /// Comparing two values gives the same sign as comparing their keys, in both sort directions, for every type.
    @Test(arguments: AttributeType.allCases)
    func keysAreOrderedAsTheirValuesAre(_ type: AttributeType) {
        var random = SplitMix64(seed: UInt64(type.rawValue.utf8.reduce(7) { $0 &* 31 &+ Int($1) }))
        for round in 0..<20_000 {
            let (left, right) = (value(type, &random), value(type, &random))
            let expected = left.order(to: right, unsigned: type == .uint64).signum()
            #expect(sign(key(left, type), key(right, type)) == expected, "round \(round): \(left) \(right)")
            #expect(
                sign(key(left, type, descending: true), key(right, type, descending: true)) == -expected,
                "descending, round \(round): \(left) \(right)")
        }
    }

    /// No key of a type is a prefix of another, so components can be concatenated.
    @Test func pairsAreOrderedByTheFirstThenTheSecond() {
        var random = SplitMix64(seed: 11)
        let types: [AttributeType] = [.string, .data, .int64, .double, .decimal, .bool]
        for round in 0..<30_000 {
            let (first, second) = (types[random.below(6)], types[random.below(6)])
            let (a1, a2, b1, b2) = (value(first, &random), value(second, &random), value(first, &random), value(second, &random))
            let descending = random.below(2) == 0
            let left = KeyWriter()
            let right = KeyWriter()
            left.append(a1, type: first)
            left.append(a2, type: second, descending: descending)
            right.append(b1, type: first)
            right.append(b2, type: second, descending: descending)
            let byFirst = a1.order(to: b1, unsigned: false).signum()
            let bySecond = a2.order(to: b2, unsigned: false).signum() * (descending ? -1 : 1)
            #expect(sign(left.bytes, right.bytes) == (byFirst != 0 ? byFirst : bySecond), "round \(round): \(a1) \(a2), \(b1) \(b2)")
        }
    }

    @Test(arguments: AttributeType.allCases)
    func componentsAreReadBack(_ type: AttributeType) throws {
        var random = SplitMix64(seed: 5)
        for descending in [false, true] {
            for _ in 0..<500 {
                let (first, second) = (value(type, &random), value(type, &random))
                let writer = KeyWriter()
                writer.append(first, type: type, descending: descending)
                writer.append(second, type: type, descending: !descending)
                writer.append(id: -7)
                try writer.bytes.withUnsafeBytes { bytes throws in
                    var reader = KeyReader(bytes)
                    #expect(try reader.readComponent(descending: descending) == .value(first))
                    #expect(try reader.readComponent(descending: !descending) == .value(second))
                    #expect(try reader.readID() == -7)
                    #expect(reader.isAtEnd)
                }
            }
        }
    }

    @Test func longComponentsAreCutAndKeysStayShort() throws {
        for size in [400, 460, 465, 466, 467, 468, 469, 470, 471, 475, 480, 500, 5000, 100_000] {
            for content in [[UInt8](repeating: 120, count: size), [UInt8](repeating: 0, count: size), (0..<size).map { UInt8($0 & 1) }] {
                let writer = KeyWriter()
                writer.append(byte: Keyspace.index.rawValue)
                writer.append(UInt32(3))
                writer.append(.blob(content), type: .data)
                let isCut = writer.isCut
                writer.append(id: 9)
                #expect(writer.bytes.count <= KeyWriter.longestKey)
                try writer.bytes.withUnsafeBytes { bytes throws in
                    var reader = KeyReader(bytes, from: 5)
                    switch try reader.readComponent() {
                    case .value(let value): #expect(!isCut && value == .blob(content))
                    case .cut(let prefix, _): #expect(isCut && content.starts(with: prefix) && prefix.count > 200)
                    }
                    #expect(try reader.readID() == 9)
                }
            }
        }
    }

    /// A truncated key keeps its order relative to keys that differ before the cut, and differs where the values differ before it.
    @Test func truncatedKeysKeepTheirOrder() {
        let long = String(repeating: "m", count: 600)
        let ascending = ["", "a", String(repeating: "l", count: 700), "m", String(repeating: "m", count: 100)]
        for text in ascending { #expect(sign(key(.text(text), .string), key(.text(long), .string)) == -1, "\(text.prefix(5))") }
        for text in ["n", String(repeating: "z", count: 600), "mn"] {
            #expect(sign(key(.text(text), .string), key(.text(long), .string)) == 1)
        }
        #expect(key(.text(long + "a"), .string) != key(.text(long + "b"), .string))
    }

    /// The reader is total.
    @Test func damagedKeysNeverTrap() {
        var random = SplitMix64(seed: 21)
        for _ in 0..<50_000 {
            var bytes = (0..<random.below(30)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            if random.below(2) == 0, !bytes.isEmpty { bytes[0] = [0x05, 0x14, 0x15, 0x1a, 0x22, 0x26, 0x28, 0x2c, 0x30][random.below(9)] }
            bytes.withUnsafeBytes { bytes in
                var reader = KeyReader(bytes)
                do {
                    while !reader.isAtEnd { _ = try reader.readComponent(descending: random.below(4) == 0) }
                } catch let error as StoreError {
                    #expect(error.code == .corrupt)
                } catch {
                    Issue.record("\(error)")
                }
            }
        }
    }

    @Test func idsAndNumbersSort() {
        let ids: [Int64] = [.min, -1, 0, 1, 255, 256, .max]
        let keys = ids.map { id in
            let writer = KeyWriter()
            writer.append(id: id)
            return writer.bytes
        }
        for (left, right) in zip(keys, keys.dropFirst()) { #expect(sign(left, right) == -1) }
    }
}
