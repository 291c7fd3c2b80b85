import Foundation
import PeerKit
import PolyStoreBackend
import PolyStoreCore
import PolyStoreFormats

/// W16 and W17: text records through `importRecords`.
struct ImportWorkloads: Sendable {
    private let store: BenchStore
    private var out: Reporter { store.out }

    init(_ store: BenchStore) { self.store = store }

    /// W16: imports all persons from JSON Lines and from CSV, each into an empty store and in one transaction. The readers alone and Foundation's decoder alone
    /// use the same bytes; none of them depends on the store.
    func all() throws {
        let people = RawPerson.make(from: 1, count: PB.n)
        let expected = people.reduce(0) { $0 &+ contentHash($1) }
        for (name, format) in [("j", RecordFormat.jsonLines), ("c", .csv)] {
            let sink = MemoryByteSink()
            try ContactText.write(people, format, to: sink)
            let text = sink.bytes
            if name == "j" { try decode(text) }
            try out.time("W16\(name)r", PB.n, note: "the reader alone, \(text.count) bytes") {
                let reader = try RecordSource.bytes(text, format: format).makeReader()
                var count: UInt64 = 0
                while let record = try reader.next() { count &+= UInt64(record.fields.count) }
                return count
            }
            let stack = try open("contacts-" + name)
            let content = { try stack.readAndWait { context in try context.fetchAll(From<Contact>()).reduce(0) { $0 &+ contentHash($1) } } }
            try out.time("W16" + name, PB.n, note: "\(text.count) bytes", verify: content) {
                let report = try stack.importRecordsAndWait(Into<Contact>(), from: .bytes(text, format: format))
                return UInt64(report.inserted)
            }
            if PB.verify, try content() != expected {
                throw StoreError(.corrupt, "The persons of W16\(name) are not those of the generator.")
            }
        }
    }

    private func decode(_ text: [UInt8]) throws {
        let lines = text.split(separator: 0x0a).map { Data($0) }
        try out.time("W16d", PB.n, note: "JSONDecoder, the date as text") {
            let decoder = JSONDecoder()
            var sum: UInt64 = 0
            for line in lines { sum &+= UInt64(try decoder.decode(ContactText.Row.self, from: line).email.utf8.count) }
            return sum
        }
    }

    private func open(_ name: String) throws -> DataStack {
        try store.remove(name)
        let stack = try DataStack(Schema("Contacts", Contact.self))
        try stack.addStore(store.configuration(name))
        return stack
    }

    /// W17: imports persons from a pipe, which another process fills, in batches of 1,000.
    func fromPipe() throws {
        let stack = try open("contacts-pipe")
        let writer = Process()
        let pipe = Pipe()
        writer.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        writer.arguments = [store.engine, "text", store.folder, String(PB.n)]
        writer.standardOutput = pipe
        try writer.run()
        let before = Memory()
        let start = Stamp()
        let report = try stack.importRecordsAndWait(
            Into<Contact>(), from: .handle(pipe.fileHandleForReading, format: .jsonLines),
            options: ImportOptions(commit: .batches(of: 1000)))
        let end = Stamp()
        writer.waitUntilExit()
        guard report.inserted == PB.n else { throw StoreError(.corrupt, "W17 imported \(report.inserted) of \(PB.n) persons.") }
        out.emit(
            "W17", PB.n, seconds: end.wall - start.wall, cpu: end.cpu - start.cpu, note: "batches of 1,000",
            extra: [("before_kb", before.resident), ("anonymous_kb", Memory().anonymous)])
    }

    /// Writes all persons as JSON Lines to the standard output: the input of W17.
    func writeText() throws {
        try ContactText.write((1...Int64(PB.n)).lazy.map { RawPerson(id: $0) }, .jsonLines, to: StandardOutput())
    }

    private final class StandardOutput: ByteSink {
        func write(_ bytes: UnsafeRawBufferPointer) throws { try FileHandle.standardOutput.write(contentsOf: Data(bytes)) }
        func finish() {}
        func cancel() {}
    }
}
