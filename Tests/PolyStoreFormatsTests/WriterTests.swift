import Foundation
import PolyStoreFormats
import TestSupport
import Testing

@Suite struct WriterTests {
    static let formats: [RecordFormat] = [
        .jsonLines, .json, .json(at: "data.items"), .json(path: ["a\"b", "c.d"]), .csv, .tsv,
        .csv(CSVOptions(delimiter: ";", quote: "'", commentPrefix: "#")),
    ]

    static let rows: [JSONObject] = [
        ["a": "plain", "b": "1"], ["a": "", "b": nil], ["a": "comma, quote \" and 'apostrophe'; tab \t", "b": "line\r\nend\nend\rend"],
        ["a": "#comment", "b": " spaces "], ["a": "\u{0}\u{1}\u{1f}\u{7f}\\", "b": "é\u{1F600}\u{2028}\u{FEFF}"],
        ["a": "\u{FEFF}", "b": "\""],
    ]

    @Test(arguments: formats.indices) func writtenRecordsReadBackEqual(index: Int) throws {
        let sink = MemoryByteSink()
        let writer = try RecordWriter(to: sink, format: Self.formats[index], columns: ["a", "b"])
        for row in Self.rows { try writer.write(row) }
        try writer.finish()
        #expect(try records(sink.text, Self.formats[index]) == Self.rows)
        #expect(writer.count == Self.rows.count)
    }

    @Test(arguments: formats.indices) func aDocumentWithoutRecordsIsValid(index: Int) throws {
        let sink = MemoryByteSink()
        try RecordWriter(to: sink, format: Self.formats[index], columns: ["a", "b"]).finish()
        #expect(try records(sink.text, Self.formats[index]).isEmpty)
    }

    @Test func valuesOfEveryTypeReadBackEqual() throws {
        let date = Date(timeIntervalSinceReferenceDate: 789_012_345.678901)
        let decimal = try #require(Decimal(string: "12345678901234567890.123456789"))
        let uuid = UUID()
        let values: [String: any ConvertibleToSource] = [
            "int": Int64.min, "uint": UInt64.max, "double": 0.1 + 0.2, "tiny": Double.leastNonzeroMagnitude, "float": Float(0.1),
            "decimal": decimal, "date": date,
            "data": Data([0, 255, 10]), "uuid": uuid, "bool": true, "none": nil as Int?, "list": [1, 2], "map": ["k": "v"],
            "color": ConversionTests.Color.red,
        ]
        for format in [RecordFormat.jsonLines, .json, .csv] {
            let sink = MemoryByteSink()
            let writer = try RecordWriter(to: sink, format: format, columns: values.keys.sorted())
            try writer.write(values)
            try writer.finish()
            let record = try #require(try records(sink.text, format).first)
            #expect(try record.require("int", as: Int64.self) == .min)
            #expect(try record.require("uint", as: UInt64.self) == .max)
            #expect(try record.require("double", as: Double.self) == 0.1 + 0.2)
            #expect(try record.require("tiny", as: Double.self) == .leastNonzeroMagnitude)
            #expect(try record.require("float", as: Float.self) == 0.1)
            #expect(try record.require("decimal", as: Decimal.self) == decimal)
            #expect(try record.require("date", as: Date.self) == date)
            #expect(try record.require("data", as: Data.self) == Data([0, 255, 10]))
            #expect(try record.require("uuid", as: UUID.self) == uuid)
            #expect(try record.require("bool", as: Bool.self))
            #expect(try record.optional("none", as: Int.self) == nil)
            #expect(try record.require("list", as: [Int].self) == [1, 2])
            #expect(try record.require("map", as: [String: String].self) == ["k": "v"])
            #expect(try record.require("color", as: ConversionTests.Color.self) == .red)
        }
    }

    @Test func numbersOutsideOfJSONAreRefusedOrText() throws {
        for value in [Double.nan, .infinity, -.infinity] {
            let writer = try RecordWriter(to: MemoryByteSink(), format: .jsonLines)
            let error = #expect(throws: RecordError.self) { try writer.write(["x": value]) }
            #expect(error?.field == "x")
            let text = try value.sourceValue(options: OutputOptions(nonFiniteNumbers: .text))
            let back = try Double(source: text, options: .default)
            #expect(back == value || (back.isNaN && value.isNaN))
        }
    }

    @Test func aRecordThatCannotBeWrittenLeavesNothing() throws {
        let sink = MemoryByteSink()
        let writer = try RecordWriter(to: sink, format: .csv, columns: ["a", "b"])
        try writer.write(["a": "1"])
        let error = #expect(throws: RecordError.self) { try writer.write(["a": "2", "c": "3"]) }
        #expect(error?.field == "c")
        try writer.write(["b": "4"])
        try writer.finish()
        #expect(sink.text == "a,b\r\n1,\r\n,4\r\n")
        #expect(throws: RecordError.self) { try writer.write(["a": "5"]) }
        var deep: JSONValue = 1
        for _ in 0..<600 { deep = [deep] }
        let json = MemoryByteSink()
        let lines = try RecordWriter(to: json, format: .jsonLines)
        #expect(throws: RecordError.self) { try lines.write(["a": deep]) }
        try lines.finish()
        #expect(json.bytes.isEmpty)
    }

    static let refused: [(RecordFormat, [String])] = [
        (.csv, []), (.csv, ["a", "a"]), (.csv(CSVOptions(delimiter: "\"")), ["a"]), (.csv(CSVOptions(quote: nil)), ["a,b"]),
    ]

    @Test(arguments: refused.indices) func columnsThatCannotBeWrittenAreErrors(index: Int) {
        let (format, columns) = Self.refused[index]
        #expect(throws: RecordError.self) { try RecordWriter(to: MemoryByteSink(), format: format, columns: columns) }
    }

    /// Writes text to a sink of a file; the file is complete or unchanged.
    private func write(_ text: String, _ sink: FileByteSink) throws {
        var text = text
        try text.withUTF8 { try sink.write(UnsafeRawBufferPointer($0)) }
    }

    @Test func aFileThatAppearsMeanwhileRemains() throws {
        let folder = try Folder()
        let path = folder.file("x.txt")
        func content() throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
        let late = try FileByteSink(path: path, replacesExisting: false)
        try write("late", late)
        try "mine".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(throws: RecordError.self) { try late.finish() }
        #expect(throws: RecordError.self) { try FileByteSink(path: path, replacesExisting: false) }
        #expect(try content() == "mine")
        try FileManager.default.removeItem(atPath: path)
        let first = try FileByteSink(path: path, replacesExisting: false)
        try write("first", first)
        try first.finish()
        #expect(try content() == "first")
        #expect(folder.names == ["x.txt"])
    }

    @Test func aFileThatIsReplacedKeepsItsPermissionsAndItsLinks() throws {
        let folder = try Folder()
        let (path, link) = (folder.file("x.txt"), folder.file("link"))
        try "old".write(toFile: path, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o604], ofItemAtPath: path)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: "x.txt")
        do {
            let discarded = try FileByteSink(path: link)
            try write("discarded", discarded)
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "old")
        let sink = try FileByteSink(path: link)
        try write("new", sink)
        try sink.finish()
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "new")
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o604)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "x.txt")
        #expect(folder.names.sorted() == ["link", "x.txt"])
        #expect(throws: RecordError.self) { try FileByteSink(path: folder.file(".")) }
    }

    @Test func aFileAppearsWhenItIsComplete() throws {
        let folder = try Folder()
        let path = folder.file("a.jsonl")
        let writer = try RecordWriter(to: .file(path: path), format: .jsonLines)
        for index in 0..<20_000 { try writer.write(["index": JSONValue(index)]) }
        #expect(folder.names.contains("a.jsonl") == false)
        try writer.finish()
        #expect(folder.names == ["a.jsonl"])
        let reader = try RecordSource.file(path: path).makeReader()
        #expect(reader.totalBytes.map { $0 > 200_000 } == true)
        #expect(try reader.skip(records: 19_999) == 19_999)
        #expect(try reader.next()?["index"] == 19_999)
        #expect(try reader.next() == nil)
        #expect(reader.bytesRead == reader.totalBytes)

        do {
            let discarded = try RecordWriter(to: .file(path: path), format: .json)
            try discarded.write(["index": -1])
        }
        #expect(folder.names == ["a.jsonl"])
        #expect(try RecordSource.file(path: path).makeReader().next()?["index"] == 0)
        #expect(throws: RecordError.self) { try RecordWriter(to: .file(path: path + "/x"), format: .json) }
    }
}
