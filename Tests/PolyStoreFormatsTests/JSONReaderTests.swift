import Foundation
import PolyStoreFormats
import Testing

@Suite struct JSONReaderTests {
    @Test func aBadLineIsAnErrorAndReadingContinues() {
        let text = "{\"a\":1}\n{\"a\":}\n[1]\n{\"a\":{\"b\":[0,\"\\ud800\"]}}\n{\"a\":1} {\"a\":2}\n{\"a\":1,\"a\":2}\n7\n\n{\"a\":2}"
        let found = outcomes(Array(text.utf8), .jsonLines)
        #expect(found.count == 8)
        #expect(
            errors(text, .jsonLines).map(\.description) == [
                "test, record 2 (line 2), field a: expected a value, found '}'",
                "test, record 3 (line 3): a record must be an object, found an array of 1 values",
                "test, record 4 (line 4), field a.b[1]: \\ud800 is half of a surrogate pair, which does not denote a character",
                "test, record 5 (line 5): expected the end of the line after the value, found '{'",
                "test, record 6 (line 6), field a: the name occurs twice in an object",
                "test, record 7 (line 7): a record must be an object, found the number 7",
            ])
        #expect(errors(text, .jsonLines).allSatisfy { $0.isRecoverable })
    }

    @Test func anErrorOfGrammarEndsAnArrayAndOneOfMeaningDoesNot() {
        let meaning = #"[{"a":1},{"a":"\udc00"},2,{"b":1,"b":2},{"a":3}]"#
        let found = outcomes(Array(meaning.utf8), .json)
        #expect(found.count == 5)
        #expect(errors(meaning, .json).map(\.code) == [.encoding, .wrongType, .duplicateField])
        #expect(errors(meaning, .json).allSatisfy { $0.isRecoverable })
        let grammar = errors(#"[{"a":1},{"a":},{"a":3}]"#, .json)
        #expect(grammar.map(\.isRecoverable) == [false])
        #expect(grammar.first?.position?.record == 2)
        #expect(grammar.first?.byteOffset == 14)
    }

    @Test func anErrorAfterWhichNothingCanBeReadIsRepeated() throws {
        let reader = try RecordSource.text("[{}", format: .json).makeReader()
        #expect(try reader.next()?.fields == [:])
        for _ in 0..<2 { #expect(throws: RecordError.self) { try reader.next() } }
    }

    static let badDocuments: [(String, RecordFormat)] = [
        ("", .json), ("  ", .json), ("{}", .json), ("7", .json), ("[", .json), ("[{}", .json), ("[{},]", .json), ("[,{}]", .json),
        ("[{} {}]", .json),
        ("[{}]x", .json), ("[{}][{}]", .json), ("[{}],", .json), ("[}", .json), ("[{]}", .json), ("[{}}", .json), ("{\"items\":[]}", .json),
        ("[]", .json(at: "items")), ("{}", .json(at: "items")), ("{\"items\":{}}", .json(at: "items")),
        ("{\"items\":[]", .json(at: "items")),
        ("{\"items\":[],\"items\":[]}", .json(at: "items")), ("{\"items\":[]}}", .json(at: "items")),
        ("{\"x\":{\"items\":[]}}", .json(at: "items")),
        ("{\"items\":[]]", .json(at: "items")), ("{\"a\":01,\"items\":[]}", .json(at: "items")),
        ("{\"a\":\"\\x\",\"items\":[]}", .json(at: "items")),
        ("{\"items\":[],\"a\":nul}", .json(at: "items")), ("{\"items\":[],}", .json(at: "items")), ("{items:[]}", .json(at: "items")),
        ("{\"a\":\"\n\",\"items\":[]}", .json(at: "items")), ("{\"a\":[1,],\"items\":[]}", .json(at: "items")),
        ("{\"items\" []}", .json(at: "items")),
        ("{\"data\":[{\"items\":[]}]}", .json(at: "data.items")), ("{\"data\":null}", .json(at: "data.items")),
        ("[" + String(repeating: "[", count: 600), .json),
        ("{\"a\":" + String(repeating: "[", count: 600), .json(at: "items")), ("\u{1f}\u{8b}", .json),
    ]

    @Test(arguments: badDocuments.indices, [[1], [1 << 20]]) func documentsThatAreNotAsStatedAreErrors(index: Int, chunks: [Int]) {
        let (text, format) = Self.badDocuments[index]
        let found = outcomes(Array(text.utf8), format, chunks: chunks)
        guard case .error(let error) = found.last else {
            Issue.record("\(text) was accepted")
            return
        }
        #expect(!error.isRecoverable)
        #expect(error.position != nil && error.byteOffset != nil)
    }

    static let goodDocuments: [(String, RecordFormat, Int)] = [
        ("[]", .json, 0), (" [ { } ] ", .json, 1), ("\u{FEFF}[{}]", .json, 1), ("{\"items\":[]}", .json(at: "items"), 0),
        ("{\"a\":{\"items\":[1]},\"items\":[{}]}", .json(at: "items"), 1), ("{\"it\\u0065ms\":[{}]}", .json(at: "items"), 1),
        ("{\"a.b\":[{}]}", .json(path: ["a.b"]), 1), ("{\"b\":{\"x\":[{}]},\"a\":{\"b\":{\"c\":[{},{}]}}}", .json(at: "a.b.c"), 2),
        ("{\"n\":[-0.5e+10,0,12,1E2],\"t\":[true,false,null],\"s\":\"\\u00e9\\n\",\"items\":[{}]}", .json(at: "items"), 1),
        ("{\"\":[{}]}", .json(path: [""]), 1), ("", .jsonLines, 0), ("\n\r\n \n", .jsonLines, 0), ("\u{FEFF}{}\n", .jsonLines, 1),
        ("{}", .jsonLines, 1),
        ("{}\r\n{}", .jsonLines, 2),
    ]

    @Test(arguments: goodDocuments.indices, [[1], [1 << 20]]) func recordsAreFoundInTheDocument(index: Int, chunks: [Int]) throws {
        let (text, format, count) = Self.goodDocuments[index]
        #expect(try records(text, format, chunks: chunks).count == count)
    }

    @Test func limitsApplyToRecords() {
        let lines = "{\"a\":12}\n{\"a\":\"1234567890\"}\n{}"
        let array = "[{\"a\":12},{\"a\":\"1234567890\"},{}]"
        for (text, format, expected) in [
            (lines, RecordFormat.jsonLines, [nil, RecordError.Code.limit, nil]), (array, .json, [nil, .limit]),
        ] {
            var format = format
            format.longestRecord = 10
            for chunks in [[1], [4], [100]] {
                let found = outcomes(Array(text.utf8), format, chunks: chunks)
                #expect(codes(found) == expected)
            }
        }
    }

    @Test func objectsThatDifferShareNoNames() throws {
        var lines = ""
        var expected: [JSONObject] = []
        for index in 0..<3000 {
            var object: JSONObject = ["id": JSONValue(index)]
            for field in 0..<(index % 40) { object["f\((index * 7 + field) % 501)"] = JSONValue(field) }
            expected.append(object)
            lines += object.description + "\n"
        }
        let found = try records(lines, .jsonLines)
        #expect(found.map(\.description) == expected.map(\.description))
        #expect(found[2999]["id"] == 2999)
    }

    /// A field that arrives in very many reads is found without scanning it again for each of them.
    @Test func aFieldOfManyMegabytesIsRead() throws {
        for (format, count) in [(RecordFormat.jsonLines, 24 << 20), (.json, 8 << 20), (.csv, 8 << 20)] {
            let isCSV = format.csvOptions != nil
            let head = Array((isCSV ? "a\n\"" : format == .json ? "[{\"a\":\"" : "{\"a\":\"").utf8)
            let tail = Array((isCSV ? "\"\n" : format == .json ? "\"}]" : "\"}\n").utf8)
            let reader = try RecordReader(RepeatedSource(head: head, byte: 0x78, count: count, tail: tail), format: format)
            #expect(try reader.next()?["a"]?.string?.utf8.count == count)
            #expect(try reader.next() == nil)
        }
    }
}

/// A prefix, one byte many times, and a suffix, in chunks of 64 KiB.
private final class RepeatedSource: ByteSource {
    private var head: [UInt8]
    private let byte: UInt8
    private var count: Int
    private var tail: [UInt8]

    init(head: [UInt8], byte: UInt8, count: Int, tail: [UInt8]) {
        self.head = head
        self.byte = byte
        self.count = count
        self.tail = tail
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        if !head.isEmpty {
            buffer.copyBytes(from: head)
            defer { head = [] }
            return head.count
        }
        if count > 0 {
            let part = min(65_536, count, buffer.count)
            UnsafeMutableRawBufferPointer(rebasing: buffer[..<part]).initializeMemory(as: UInt8.self, repeating: byte)
            count -= part
            return part
        }
        buffer.copyBytes(from: tail)
        defer { tail = [] }
        return tail.count
    }
}
