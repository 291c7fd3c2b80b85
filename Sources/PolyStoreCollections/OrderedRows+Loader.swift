extension OrderedRows {
    /// Makes a list of rows that come in order.
    package struct Loader {
        /// The number of rows per block, which leaves capacity for rows that are inserted later.
        private static let fill = 240
        /// The largest number of shared bytes of a block, so that long texts take little memory.
        private static let mostShared = 256

        private var blocks: [Block] = []
        /// The row ids of the block that is being filled, and the beginnings of their keys. The array of keys is reused and may be longer.
        private var rowIDs: [Int64] = []
        private var keys: [[UInt8]] = []
        /// The number of bytes that these keys share.
        private var shared = 0

        package init() {}

        package mutating func append(_ rowID: Int64, _ key: [UInt8]) {
            if rowIDs.count == Self.fill { endBlock() }
            let count = rowIDs.count
            shared = count == 0 ? min(key.count, Self.mostShared) : min(shared, OrderedRows.commonCount(keys[0], key))
            let known = key.prefix(Self.mostShared + Prefix.count)
            if count == keys.count { keys.append(Array(known)) } else { keys[count].replaceSubrange(0..., with: known) }
            rowIDs.append(rowID)
        }

        private mutating func endBlock() {
            guard !rowIDs.isEmpty else { return }
            var block = Block(number: blocks.count, shared: Array(keys[0].prefix(shared)))
            for (rowID, key) in zip(rowIDs, keys) {
                block.rowIDs.append(rowID)
                block.prefixes.append(Prefix(key, from: shared))
            }
            blocks.append(block)
            rowIDs.removeAll(keepingCapacity: true)
        }

        /// Returns the list.
        package consuming func finish() -> OrderedRows {
            endBlock()
            return OrderedRows(blocks)
        }
    }
}
