/// A document id in the form in which it is compared as bytes: an unsigned number in the order of the ids.
typealias DocumentKey = UInt64

extension Int64 {
    @inline(__always)
    var documentKey: DocumentKey { UInt64(bitPattern: self) ^ (1 << 63) }
}

extension DocumentKey {
    @inline(__always)
    var document: Int64 { Int64(bitPattern: self ^ (1 << 63)) }
}

/// A place in the order of the postings of a segment: after a document of a term, or after all documents of the term.
struct TermPosition: Hashable, Sendable {
    var term: [UInt8]
    /// The document; nil for the end of the term.
    var document: DocumentKey?
}

/// The keys of the pages.
enum PageKey {
    static let structure: [UInt8] = [0x53]
    /// Terms are cut to this number of bytes, so that keys fit into those of every engine.
    static let maximumTermLength = 200

    private static func prefix(_ kind: UInt8, _ segment: UInt64) -> [UInt8] {
        var key: [UInt8] = [kind]
        for shift in stride(from: 40, through: 0, by: -8) { key.append(UInt8(truncatingIfNeeded: segment >> UInt64(shift))) }
        return key
    }

    private static func append(_ value: UInt64, to key: inout [UInt8]) {
        for shift in stride(from: 56, through: 0, by: -8) { key.append(UInt8(truncatingIfNeeded: value >> UInt64(shift))) }
    }

    private static func append(term: [UInt8], to key: inout [UInt8]) {
        for byte in term {
            key.append(byte)
            if byte == 0 { key.append(255) }
        }
    }

    /// The first bytes of all keys of a segment's terms.
    static func terms(_ segment: UInt64) -> [UInt8] { prefix(0x54, segment) }

    /// The first key after all those of a segment's terms.
    static func afterTerms(_ segment: UInt64) -> [UInt8] { prefix(0x54, segment + 1) }

    /// The key of the page that ends at a position, which is also the key to seek for a document of a term or its end.
    static func terms(_ segment: UInt64, _ term: [UInt8], _ document: DocumentKey?) -> [UInt8] {
        var key = terms(segment)
        append(term: term, to: &key)
        key.append(0)
        key.append(document == nil ? 2 : 1)
        if let document { append(document, to: &key) }
        return key
    }

    static func terms(_ segment: UInt64, _ position: TermPosition) -> [UInt8] { terms(segment, position.term, position.document) }

    /// The first key of terms that are not below a term.
    static func terms(_ segment: UInt64, from term: [UInt8]) -> [UInt8] {
        var key = terms(segment)
        append(term: term, to: &key)
        return key
    }

    static func positions(_ segment: UInt64, _ page: Int) -> [UInt8] {
        var key = prefix(0x50, segment)
        for shift in stride(from: 24, through: 0, by: -8) { key.append(UInt8(truncatingIfNeeded: page >> shift)) }
        return key
    }

    /// The first key after all those of a segment's positions.
    static func afterPositions(_ segment: UInt64) -> [UInt8] { prefix(0x50, segment + 1) }

    /// The number of the chunk with the length of a document.
    static func chunk(_ document: DocumentKey) -> UInt64 { document >> 8 }

    static func lengths(_ chunk: UInt64) -> [UInt8] {
        var key: [UInt8] = [0x4c]
        append(chunk, to: &key)
        return key
    }
}

extension [UInt8] {
    /// Returns whether these bytes come before others.
    func precedes(_ other: [UInt8]) -> Bool { lexicographicallyPrecedes(other) }
}
