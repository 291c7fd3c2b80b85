import ChildProcesses
import Foundation
import PolyStoreFormats
import PolyStoreGzip
import TestSupport
import Testing

@Suite struct GzipTests {
    static func compressed(_ text: String, level: Int = 6) throws -> [UInt8] {
        let sink = MemoryByteSink()
        let gzip = try GzipByteSink(sink, level: level)
        var text = text
        try text.withUTF8 { try gzip.write(UnsafeRawBufferPointer($0)) }
        try gzip.finish()
        return sink.bytes
    }

    static let text = (0..<20_000).map { "{\"n\":\($0)}\n" }.joined()

    func count(_ bytes: [UInt8]) throws -> Int {
        let reader = try RecordSource.bytes(bytes, format: .jsonLines, name: "a.jsonl.gz").decompressed.makeReader()
        var count = 0
        while let record = try reader.next() {
            #expect(record["n"]?.int == count % 20_000)
            count += 1
        }
        return count
    }

    @Test(arguments: [1, 6, 9]) func compressedDataReadsBackEqual(level: Int) throws {
        let bytes = try Self.compressed(Self.text, level: level)
        #expect(bytes.count < Self.text.utf8.count / 2)
        #expect(try count(bytes) == 20_000)
    }

    @Test func filesOfSeveralMembersAreRead() throws {
        let member = try Self.compressed(Self.text)
        let empty = try Self.compressed("")
        #expect(try count(member + empty + member) == 40_000)
        #expect(try count(member + [UInt8](repeating: 0, count: 1000)) == 20_000)
        #expect(try count(empty) == 0)
    }

    @Test func damagedBytesAreErrors() throws {
        let member = try Self.compressed(Self.text)
        var changed = member
        changed[member.count / 2] ^= 0x40
        var checksum = member
        checksum[member.count - 6] ^= 1
        let damaged: [(String, [UInt8])] = [
            ("empty", []), ("no gzip", Array("hello".utf8)), ("cut off in the data", Array(member.dropLast(member.count / 2))),
            ("cut off in the checksum", Array(member.dropLast(3))), ("cut off in the header", Array(member.prefix(5))),
            ("changed", changed),
            ("wrong checksum", checksum), ("followed by text", member + Array("x".utf8)),
            ("followed by an incomplete member", member + member.prefix(9)),
            ("text after zeros", member + [0, 0, 1]),
        ]
        for (name, bytes) in damaged {
            let error = #expect(throws: RecordError.self, "\(name)") { try count(bytes) }
            #expect(error?.code == .compression, "\(name): \(error as Any)")
        }
    }

    @Test func filesAreCompressedAndNamedByTheirFormat() throws {
        let folder = try Folder()
        let path = folder.file("a.csv.gz")
        let writer = try RecordWriter(to: .gzip(path: path), format: .csv, columns: ["a", "b"])
        for index in 0..<1000 { try writer.write(["a": JSONValue("text \(index)"), "b": nil]) }
        try writer.finish()
        let source = RecordSource.gzip(path: path)
        let reader = try source.makeReader()
        #expect(try reader.skip(records: 500) == 500)
        let record = try #require(try reader.next())
        #expect(record["a"] == "text 500")
        let resumed = try source.makeReader()
        try resumed.resume(after: record.position)
        #expect(try resumed.next()?["a"] == "text 501")
        let uncompressed = #expect(throws: RecordError.self) { try RecordSource.file(path: path).makeReader().next() }
        #expect(uncompressed?.code == .compression)
        #expect(throws: RecordError.self) { try GzipByteSink(MemoryByteSink(), level: 10) }
    }

    /// Runs the gzip program.
    private static func gzip(_ arguments: String...) throws -> Int32 {
        try ChildProcess("gzip", arguments, output: .null).wait()
    }

    /// Each side reads the output of the other.
    @Test(.enabled(if: (try? gzip("--version")) == 0))
    func theProgramGzipAgrees() throws {
        let folder = try Folder()
        let path = folder.file("a.jsonl")
        try Self.text.write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try Self.gzip("-9", path) == 0)
        #expect(try count([UInt8](Data(contentsOf: URL(fileURLWithPath: path + ".gz")))) == 20_000)
        try Data(Self.compressed(Self.text)).write(to: URL(fileURLWithPath: path + ".gz"))
        #expect(try Self.gzip("-t", path + ".gz") == 0)
    }
}
