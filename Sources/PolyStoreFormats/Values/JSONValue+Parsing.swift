extension JSONValue {
    /// Parses JSON text that contains exactly one value, optionally surrounded by whitespace.
    ///
    /// - Throws: ``RecordError`` with the offset of the byte and the path of the field.
    public init(parsing text: String) throws {
        var text = text
        self = try text.withUTF8 { try JSONValue(parsing: UnsafeRawBufferPointer($0)) }
    }

    /// Parses JSON text in UTF-8, with or without a byte order mark.
    ///
    /// - Throws: ``RecordError`` with the offset of the byte and the path of the field.
    public init(parsing bytes: [UInt8]) throws {
        self = try bytes.withUnsafeBytes { try JSONValue(parsing: $0) }
    }

    /// Parses JSON text in UTF-8, with or without a byte order mark.
    ///
    /// - Throws: ``RecordError`` with the offset of the byte and the path of the field.
    public init(parsing bytes: UnsafeRawBufferPointer) throws {
        let buffer = bytes.bindMemory(to: UInt8.self)
        let start = buffer.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
        switch JSONParser().parse(buffer, from: start, isComplete: true) {
        case .value(let value, let end):
            if let extra = buffer[end...].firstIndex(where: { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }) {
                throw RecordError(
                    .syntax, "expected the end of the text after the value, found \(JSONCursor.name(of: buffer[extra]))",
                    byteOffset: Int64(extra))
            }
            self = value
        case .failure(let failure):
            throw RecordError(failure.code, failure.reason, field: failure.field, byteOffset: Int64(failure.offset))
        case .needsMore:
            throw RecordError(.syntax, "the value is cut off", byteOffset: Int64(bytes.count))
        }
    }
}
