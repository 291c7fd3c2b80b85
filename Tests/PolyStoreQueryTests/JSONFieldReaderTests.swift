import PolyStoreBackend
import PolyStoreQuery
import SeededRandom
import Testing

/// The reader of fields on bytes that no text has.
@Suite struct JSONFieldReaderTests {
    private static func value(_ keys: [String], _ result: JSONField.Result, _ bytes: [UInt8]) -> Value {
        // A buffer of exactly these bytes, so that a sanitizer detects a read behind them.
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
        defer { buffer.deallocate() }
        buffer.copyBytes(from: bytes)
        return JSONFieldReader(JSONField(keys, result)).value(in: UnsafeRawBufferPointer(buffer))
    }

    @Test func aTextThatIsNotUTF8IsNull() {
        let invalid: [[UInt8]] = [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xc0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0x80]]
        for bytes in invalid {
            let json = Array("{\"a\":\"".utf8) + bytes + Array("\",\"b\":1}".utf8)
            #expect(Self.value(["a"], .value(.string), json) == .null, "\(bytes)")
            #expect(Self.value([], .value(.json), json) == .null, "\(bytes)")
            #expect(Self.value(["b"], .value(.int64), json) == .integer(1), "\(bytes)")
            #expect(Self.value(["a"], .contains(.text("x"), .string), json) == .null, "\(bytes)")
        }
    }

    /// Every part of a text, and the text with each byte replaced or removed, is read without a failure.
    @Test func damagedTextsAreRead() {
        let text = Array("{\"a\":{\"b\":[1,-2.5e3,\"\\ud83d\\ude00\\n\",true,null,{}]},\"c\":0}".utf8)
        let results: [JSONField.Result] = [
            .value(.string), .value(.int64), .value(.double), .value(.decimal), .value(.bool), .value(.json),
            .contains(.integer(1), .int64),
            .contains(.text("😀\n"), .string),
        ]
        var texts = text.indices.map { Array(text[..<$0]) }
        for index in text.indices {
            var shorter = text
            shorter.remove(at: index)
            texts.append(shorter)
            for byte in [0, 0x22, 0x5c, 0x30, 0x2d, 0x65, 0x5b, 0x5d, 0x7b, 0x7d, 0x2c, 0x3a, 0x80, 0xff] as [UInt8] {
                var changed = text
                changed[index] = byte
                texts.append(changed)
            }
        }
        for bytes in texts {
            for keys in [[], ["a"], ["a", "b"], ["c"]] { for result in results { _ = Self.value(keys, result, bytes) } }
        }
        #expect(Self.value(["a", "b"], .contains(.text("😀\n"), .string), text) == .integer(1))
    }

    @Test func randomBytesAreRead() {
        var random = SplitMix64(seed: 20_261_126)
        let pool = Array("{}[]\":,0123456789-+.eEtrufalsn\\ \u{e9}".utf8) + [0, 0x1f, 0x80, 0xc3, 0xff]
        for _ in 0..<20_000 {
            let bytes = (0..<random.below(24)).map { _ in random.pick(pool) }
            for keys in [[], [""], ["0"]] {
                for type in AttributeType.allCases.filter(JSONField.accepts) { _ = Self.value(keys, .value(type), bytes) }
                _ = Self.value(keys, .contains(.integer(0), .int64), bytes)
            }
        }
    }
}
