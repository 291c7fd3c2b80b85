import PolyStoreBackend

/// Decodes what ``MetadataWriter`` encoded. Total: returns `nil` for invalid bytes.
struct MetadataReader {
    private var unread: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { unread = bytes[...] }

    var isAtEnd: Bool { unread.isEmpty }

    mutating func number<T: FixedWidthInteger>(_ type: T.Type = T.self) -> T? {
        guard let bytes = take(MemoryLayout<T>.size) else { return nil }
        return bytes.withUnsafeBytes { BigEndianInteger.read($0) }
    }

    private mutating func take(_ count: Int) -> [UInt8]? {
        guard count <= unread.count else { return nil }
        defer { unread = unread.dropFirst(count) }
        return [UInt8](unread.prefix(count))
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
