extension OrderedRows {
    /// Consecutive rows of a list.
    struct Block: Sendable {
        let number: Int
        var rowIDs: [Int64] = []
        /// The bytes with which the sort keys of all rows begin. They may share more.
        private(set) var shared: [UInt8]
        /// The bytes of each sort key after the shared ones.
        var prefixes: [Prefix] = []

        init(number: Int, shared: [UInt8]) {
            (self.number, self.shared) = (number, shared)
            rowIDs.reserveCapacity(OrderedRows.capacity)
            prefixes.reserveCapacity(OrderedRows.capacity)
        }

        /// The first bytes of the sort key of the last row.
        var top: Prefix {
            let last = prefixes[rowIDs.count - 1]
            return shared.isEmpty ? last : last.preceded(by: shared[...])
        }

        func shares(_ key: Key) -> Bool { OrderedRows.commonCount(key.bytes, shared) == shared.count }

        /// Returns whether the last row precedes a new one.
        func isLastRow(before key: Key, _ precedes: (Int64) throws -> Bool) rethrows -> Bool {
            try isOutside(key) ?? isBefore(key, Prefix(key.bytes, from: shared.count), rowIDs.count - 1, precedes)
        }

        /// Returns the offset at which to insert a row.
        func offset(for key: Key, _ precedes: (Int64) throws -> Bool) rethrows -> Int {
            if let isAfter = isOutside(key) { return isAfter ? rowIDs.count : 0 }
            let prefix = Prefix(key.bytes, from: shared.count)
            return try (0..<rowIDs.count).partition { try isBefore(key, prefix, $0, precedes) }
        }

        /// Returns whether a key without the shared bytes follows all keys with them; `nil` for a key with the shared bytes.
        private func isOutside(_ key: Key) -> Bool? {
            let common = OrderedRows.commonCount(key.bytes, shared)
            if common == shared.count { return nil }
            return common < key.bytes.count && key.bytes[common] > shared[common]
        }

        private func isBefore(_ key: Key, _ prefix: Prefix, _ offset: Int, _ precedes: (Int64) throws -> Bool) rethrows -> Bool {
            let other = prefixes[offset]
            if other != prefix { return other < prefix }
            // If all bytes of the key were compared, the keys are equal, because no key is a prefix of another.
            if key.bytes.count <= shared.count + Prefix.count { return rowIDs[offset] < key.rowID }
            return try precedes(rowIDs[offset])
        }

        /// Shortens the shared bytes. The known bytes of each key become fewer at the end, so that no record is read.
        mutating func share(_ count: Int) {
            guard count < shared.count else { return }
            let removed = shared[count...]
            for index in prefixes.indices { prefixes[index] = prefixes[index].preceded(by: removed) }
            shared.removeSubrange(count...)
        }

        mutating func insert(_ key: Key, at offset: Int) {
            share(OrderedRows.commonCount(key.bytes, shared))
            rowIDs.insert(key.rowID, at: offset)
            prefixes.insert(Prefix(key.bytes, from: shared.count), at: offset)
        }

        mutating func remove(at offset: Int) {
            rowIDs.remove(at: offset)
            prefixes.remove(at: offset)
        }

        /// Moves the rows from an offset on to a new block.
        mutating func split(at offset: Int, number: Int) -> Block {
            var other = Block(number: number, shared: shared)
            other.rowIDs += rowIDs[offset...]
            rowIDs.removeSubrange(offset...)
            other.prefixes += prefixes[offset...]
            prefixes.removeSubrange(offset...)
            return other
        }

        mutating func insert(contentsOf other: Block, at offset: Int) {
            var other = other
            let common = OrderedRows.commonCount(shared, other.shared)
            share(common)
            other.share(common)
            rowIDs.insert(contentsOf: other.rowIDs, at: offset)
            prefixes.insert(contentsOf: other.prefixes, at: offset)
        }
    }

    /// Returns the number of bytes with which both keys begin.
    static func commonCount(_ left: [UInt8], _ right: [UInt8]) -> Int {
        let count = min(left.count, right.count)
        var index = 0
        while index < count, left[index] == right[index] { index += 1 }
        return index
    }
}
