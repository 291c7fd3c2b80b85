import Foundation
import PolyStoreFormats
import Testing

@Suite struct SourceTests {
    static let formats: [(String, RecordFormat?)] = [
        ("a.json", .json), ("a.jsonl", .jsonLines), ("a.NDJSON", .jsonLines), ("b.csv", .csv), ("b.tsv", .tsv), ("b.tab", .tsv),
        ("b.csv.gz", .csv),
        ("a.b.json", .json), ("a", nil), ("json", nil), ("a.txt", nil), ("a.gz", nil), ("", nil),
    ]

    @Test(arguments: formats.indices) func theExtensionDeterminesTheFormat(index: Int) {
        let (name, format) = Self.formats[index]
        #expect(RecordFormat(fileName: name) == format)
    }

    @Test func sourcesThatCannotBeReadAreErrorsThatNameThem() throws {
        let missing = #expect(throws: RecordError.self) { try RecordSource.file(path: "/nowhere/a.csv").makeReader() }
        #expect(missing?.description == "Cannot open '/nowhere/a.csv': No such file or directory.")
        #expect(throws: RecordError.self) { try RecordSource.file(path: NSTemporaryDirectory(), format: .csv).makeReader() }
        let unknown = #expect(throws: RecordError.self) { try RecordSource.file(path: "/nowhere/a.txt").makeReader() }
        #expect(unknown?.code == .unsupported)
        for (bytes, code) in [([0x1f, 0x8b, 8], RecordError.Code.compression), ([0xff, 0xfe, 0x41, 0], .encoding)]
            as [([UInt8], RecordError.Code)]
        {
            for format in [RecordFormat.csv, .json, .jsonLines] {
                let error = #expect(throws: RecordError.self) { try RecordSource.bytes(bytes, format: format).makeReader().next() }
                #expect(error?.code == code)
                #expect(error?.isRecoverable == false)
            }
        }
    }

    @Test func pipesAndHandlesAreRead() throws {
        let pipe = Pipe()
        let text = (0..<5000).map { "{\"n\":\($0)}\n" }.joined()
        let writing = pipe.fileHandleForWriting
        let thread = Thread {
            try? writing.write(contentsOf: Data(text.utf8))
            try? writing.close()
        }
        thread.start()
        let reader = try RecordSource.handle(pipe.fileHandleForReading, format: .jsonLines).makeReader()
        #expect(reader.totalBytes == nil)
        var count = 0
        while let record = try reader.next() {
            #expect(record["n"]?.int == count)
            count += 1
        }
        #expect(count == 5000)
    }

    /// In a file of many chunks, the position of each record is the offset of its bytes.
    @Test func positionsAreRightInLongFiles() throws {
        let line = { (index: Int) in "{\"n\":\(index),\"t\":\"\(String(repeating: "x", count: index % 97))\"}" }
        let all = Array((0..<20_000).map(line).joined(separator: "\n").utf8)
        let reader = try RecordSource.bytes(all, format: .jsonLines).makeReader()
        var index = 0
        while let record = try reader.next() {
            let start = Int(record.position.byteOffset)
            #expect(record.position.record == index + 1 && record.position.line == index + 1)
            #expect(String(decoding: all[start..<start + Int(record.position.byteCount)], as: UTF8.self) == line(index))
            index += 1
        }
        #expect(index == 20_000)
        let resumed = try RecordSource.bytes(all, format: .jsonLines).makeReader()
        let tooFar = RecordPosition(record: 5, line: 5, byteOffset: Int64(all.count) + 1, byteCount: 1)
        #expect(throws: RecordError.self) { try resumed.resume(after: tooFar) }
    }
}
