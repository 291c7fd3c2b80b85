/// The terms that a matcher looks for, in a form in which a token is looked up without allocation.
struct SearchTerms: Sendable {
    /// A term: the bytes from `start` in ``bytes``.
    private struct Entry {
        var start: Int
        var count: Int
        var hash: UInt64
    }

    private var bytes: [UInt8] = []
    private var entries: [Entry] = []
    /// Indexes of exact terms plus 1 by their hash; 0 is free.
    private var table: [UInt32] = []
    /// The indexes of terms that are prefixes.
    private var prefixes: [Int] = []
    /// A Boolean value for each byte that indicates whether a prefix begins with it.
    private var beginsPrefix = [Bool](repeating: false, count: 256)
    /// For each term of each phrase its index.
    private(set) var phrases: [[Int]] = []
    /// The number of different terms.
    var count: Int { entries.count }

    init(_ search: ResolvedSearch) {
        struct Key: Hashable {
            var term: [UInt8]
            var isPrefix: Bool
        }
        var indexes: [Key: Int] = [:]
        for phrase in search.phrases {
            phrases.append(
                phrase.terms.enumerated().map { position, term in
                    let key = Key(term: term, isPrefix: phrase.isPrefix && position == phrase.terms.count - 1)
                    if let index = indexes[key] { return index }
                    indexes[key] = entries.count
                    add(term, isPrefix: key.isPrefix)
                    return entries.count - 1
                })
        }
        var size = 8
        while size < entries.count * 4 { size *= 2 }
        table = [UInt32](repeating: 0, count: size)
        for (key, index) in indexes where !key.isPrefix {
            var slot = Int(truncatingIfNeeded: entries[index].hash) & (size - 1)
            while table[slot] != 0 { slot = (slot + 1) & (size - 1) }
            table[slot] = UInt32(index + 1)
        }
    }

    private mutating func add(_ term: [UInt8], isPrefix: Bool) {
        let hash = term.withUnsafeBufferPointer { Self.hash($0) }
        if isPrefix {
            prefixes.append(entries.count)
            if let first = term.first { beginsPrefix[Int(first)] = true }
        }
        entries.append(Entry(start: bytes.count, count: term.count, hash: hash))
        bytes += term
    }

    /// Calls a closure with the index of each term that a token is.
    @inline(__always)
    func forEach(_ token: UnsafeBufferPointer<UInt8>, _ body: (Int) -> Void) {
        guard let first = token.first else { return }
        let hash = Self.hash(token)
        var slot = Int(truncatingIfNeeded: hash) & (table.count - 1)
        while table[slot] != 0 {
            let index = Int(table[slot]) - 1
            if entries[index].hash == hash, isEqual(entries[index], token, entries[index].count), entries[index].count == token.count {
                body(index)
                break
            }
            slot = (slot + 1) & (table.count - 1)
        }
        guard beginsPrefix[Int(first)] else { return }
        for index in prefixes where isEqual(entries[index], token, entries[index].count) { body(index) }
    }

    private func isEqual(_ entry: Entry, _ token: UnsafeBufferPointer<UInt8>, _ count: Int) -> Bool {
        guard token.count >= count else { return false }
        for index in 0..<count where bytes[entry.start + index] != token[index] { return false }
        return true
    }

    /// Returns a hash of the first 8 bytes, the last 8 bytes and the length, by which words differ.
    @inline(__always)
    private static func hash(_ token: UnsafeBufferPointer<UInt8>) -> UInt64 {
        guard token.count >= 8, let base = UnsafeRawPointer(token.baseAddress) else {
            var value: UInt64 = 0
            for byte in token { value = value << 8 | UInt64(byte) }
            return mix(value ^ UInt64(token.count) << 56)
        }
        let head = base.loadUnaligned(as: UInt64.self)
        let tail = base.loadUnaligned(fromByteOffset: token.count - 8, as: UInt64.self)
        return mix(head ^ mix(tail &+ UInt64(token.count)))
    }

    @inline(__always)
    private static func mix(_ value: UInt64) -> UInt64 {
        let product = value &* 0x9e37_79b9_7f4a_7c15
        return product ^ product >> 32
    }
}
