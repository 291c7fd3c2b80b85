/// Encodes one object per line.
final class JSONLinesEncoder: RecordEncoding {
    func begin(_ bytes: inout [UInt8]) {}

    func append(_ record: JSONObject, isFirst: Bool, _ bytes: inout [UInt8]) throws {
        try JSONText.appendRecord(record, to: &bytes)
        bytes.append(0x0a)
    }

    func end(isEmpty: Bool, _ bytes: inout [UInt8]) {}
}

/// Encodes an array with one object per line, at a path of the document.
final class JSONArrayEncoder: RecordEncoding {
    private let path: [String]

    init(path: [String]) { self.path = path }

    func begin(_ bytes: inout [UInt8]) {
        for name in path {
            bytes.append(UInt8(ascii: "{"))
            JSONText.append(name, to: &bytes)
            bytes.append(UInt8(ascii: ":"))
        }
        bytes.append(UInt8(ascii: "["))
    }

    func append(_ record: JSONObject, isFirst: Bool, _ bytes: inout [UInt8]) throws {
        if !isFirst { bytes.append(UInt8(ascii: ",")) }
        bytes.append(0x0a)
        try JSONText.appendRecord(record, to: &bytes)
    }

    func end(isEmpty: Bool, _ bytes: inout [UInt8]) {
        if !isEmpty { bytes.append(0x0a) }
        bytes.append(UInt8(ascii: "]"))
        bytes.append(contentsOf: repeatElement(UInt8(ascii: "}"), count: path.count))
        bytes.append(0x0a)
    }
}

extension JSONText {
    /// Appends a record. Throws if its nesting exceeds the limit of readers.
    static func appendRecord(_ record: JSONObject, to bytes: inout [UInt8]) throws {
        guard append(.object(record), to: &bytes) <= JSONParser.depthLimit else {
            throw RecordError(.limit, "the record has more than \(JSONParser.depthLimit) nested arrays and objects")
        }
    }
}
