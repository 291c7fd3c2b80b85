/// A file of the compiler's option `-serialize-diagnostics-path`, which clang writes in the same format.
struct SerializedDiagnostics {
    private var stream: Bitstream

    private enum Block { static let diagnostic = 9 }
    private enum Record {
        static let diagnostic = 2
        static let file = 6
        static let fixIt = 7
    }

    init(_ bytes: [UInt8]) throws {
        guard bytes.starts(with: "DIAG".utf8) else { throw Bitstream.Malformed() }
        stream = Bitstream(bytes)
    }

    /// Returns the diagnostics with their notes.
    func read() throws -> [CompilerDiagnostic] {
        var stream = stream
        var files: [Int: String] = [:]
        var found: [CompilerDiagnostic] = []
        // The diagnostic of each open block. A note is a block inside the block of its diagnostic.
        var open: [CompilerDiagnostic?] = []
        while let item = try stream.next() {
            switch item {
            case .begin: open.append(nil)
            case .end:
                guard let ended = open.popLast() else { throw Bitstream.Malformed() }
                guard let ended else { continue }
                if let parent = open.indices.last, open[parent] != nil {
                    open[parent]?.notes.append(ended)
                } else {
                    found.append(ended)
                }
            case .record(Record.file, let fields, let blob):
                if let id = fields.first { files[id] = String(decoding: blob, as: UTF8.self).split(separator: "/").last.map(String.init) }
            case .record(Record.diagnostic, let fields, let blob):
                // The severity, the location (file, line, column, offset), the category, the flag and the length of the text.
                guard fields.count >= 5, let current = open.indices.last else { throw Bitstream.Malformed() }
                open[current] = CompilerDiagnostic(
                    file: files[fields[1]] ?? "", line: fields[2], column: fields[3], isError: fields[0] == 3 || fields[0] == 4,
                    text: String(decoding: blob, as: UTF8.self))
            case .record(Record.fixIt, let fields, let blob):
                // Two locations and the length of the text.
                guard fields.count >= 8, fields[3] <= fields[7], let current = open.indices.last else { throw Bitstream.Malformed() }
                open[current]?.edits.append(.init(range: fields[3]..<fields[7], text: String(decoding: blob, as: UTF8.self)))
            case .record: continue
            }
        }
        return found
    }
}
