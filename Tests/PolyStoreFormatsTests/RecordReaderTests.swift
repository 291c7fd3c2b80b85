import Foundation
import PolyStoreFormats
import Testing

@Suite struct RecordReaderTests {
    /// The same three records in every format.
    static let documents: [(String, RecordFormat, String)] = [
        ("jsonl", .jsonLines, "{\"a\": 1, \"b\": \"x\"}\n\n {\"a\":2,\"b\":\"ü\\n\"}\r\n{\"b\":\"\",\"a\":3}"),
        ("json", .json, " [ {\"a\": 1, \"b\": \"x\"},\n{\"a\":2,\"b\":\"ü\\n\"} , {\"b\":\"\",\"a\":3} ]\n"),
        (
            "path", .json(at: "data.items"),
            #"{"n": [1, {"items": "\u00e9€"}], "data": {"x": -1.5e3, "items": [{"a": 1, "b": "x"},{"a":2,"b":"ü\n"},{"b":"","a":3}], "y": true}, "z": null} "#
        ),
        ("csv", .csv, "a,b\r\n1,x\r\n\r\n2,\"ü\n\"\n\"3\",\"\""),
        ("tsv", .tsv, "a\tb\n1\tx\r2\t\"ü\n\"\r3\t\"\"\r"),
    ]

    @Test(arguments: documents.indices, [[1], [2], [3, 1], [7], [1 << 20]])
    func recordsAreTheSameInEveryFormatAndChunking(index: Int, chunks: [Int]) throws {
        let (name, format, text) = Self.documents[index]
        let found = try records(text, format, chunks: chunks)
        #expect(found.count == 3, "\(name)")
        #expect(try found.map { try $0.require("a", as: Int.self) } == [1, 2, 3])
        #expect(try found.map { try $0.require("b", as: String.self) } == ["x", "ü\n", ""])
    }

    @Test(arguments: documents.indices) func readingContinuesAfterAnyRecord(index: Int) throws {
        let (_, format, text) = Self.documents[index]
        let source = RecordSource.text(text, format: format, name: "x")
        let reader = try source.makeReader()
        var all: [SourceRecord] = []
        while let record = try reader.next() { all.append(record) }
        for (number, record) in all.enumerated() {
            let resumed = try source.makeReader()
            try resumed.resume(after: record.position)
            var rest: [SourceRecord] = []
            while let record = try resumed.next() { rest.append(record) }
            #expect(rest == Array(all[(number + 1)...]))
        }
        for count in 0...4 {
            let skipping = try source.makeReader()
            #expect(try skipping.skip(records: count) == min(count, 3))
            #expect(try skipping.next() == (count < 3 ? all[count] : nil))
        }
    }
}
