import PolyStoreBackend

/// Encodes numbers, texts and values of the metadata consecutively. All numbers are big-endian.
struct MetadataWriter {
    private(set) var bytes: [UInt8] = []

    mutating func append<T: FixedWidthInteger>(_ number: T) { bytes += Number.bytes(number) }

    /// Appends the number of bytes, u32, and the bytes.
    mutating func append(_ blob: [UInt8]) {
        append(UInt32(truncatingIfNeeded: blob.count))
        bytes += blob
    }

    mutating func append(_ text: String) { append(Array(text.utf8)) }

    /// Appends the number of elements, u32, and the elements.
    mutating func append<Element>(_ list: [Element], _ body: (inout MetadataWriter, Element) -> Void) {
        append(UInt32(truncatingIfNeeded: list.count))
        for element in list { body(&self, element) }
    }

    /// Appends a tag, u8, and the value: 0 null; 1 integer, i64; 2 real, the bits of the double; 3 text; 4 bytes.
    mutating func append(_ value: Value) {
        switch value {
        case .null: append(UInt8(0))
        case .integer(let number):
            append(UInt8(1))
            append(number)
        case .real(let number):
            append(UInt8(2))
            append(Value.normalized(number).bitPattern)
        case .text(let text):
            append(UInt8(3))
            append(text)
        case .blob(let blob):
            append(UInt8(4))
            append(blob)
        }
    }
}

/// Decodes what ``MetadataWriter`` encoded. Total: returns `nil` for invalid bytes.
struct MetadataReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func number<T: FixedWidthInteger>(_ type: T.Type = T.self) -> T? {
        guard let bytes = take(MemoryLayout<T>.size) else { return nil }
        return bytes.withUnsafeBytes { Number.read($0) }
    }

    private mutating func take(_ count: Int) -> [UInt8]? {
        guard count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return [UInt8](rest.prefix(count))
    }

    mutating func blob() -> [UInt8]? { number(UInt32.self).flatMap { take(Int($0)) } }

    mutating func text() -> String? { blob().flatMap { String(validating: $0, as: UTF8.self) } }

    mutating func list<Element>(_ body: (inout MetadataReader) -> Element?) -> [Element]? {
        guard let count: UInt32 = number() else { return nil }
        var found: [Element] = []
        for _ in 0..<count {
            guard let element = body(&self) else { return nil }
            found.append(element)
        }
        return found
    }

    mutating func value() -> Value? {
        switch number(UInt8.self) {
        case 0: .null
        case 1: number(Int64.self).map { .integer($0) }
        case 2: number(UInt64.self).map { .real(Double(bitPattern: $0)) }
        case 3: text().map { .text($0) }
        case 4: blob().map { .blob($0) }
        default: nil
        }
    }
}
