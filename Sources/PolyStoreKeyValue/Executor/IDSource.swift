/// A source of row ids.
class IDSource {
    /// The number of examined entries.
    final var examined = 0
    /// - Returns: `nil` at the end.
    func next() throws -> Int64? { nil }
    func close() {}
}

/// A list of row ids.
final class IDList: IDSource {
    private let ids: [Int64]
    @exclusivity(unchecked) private var position = 0

    init(_ ids: [Int64], examined: Int = 0) {
        self.ids = ids
        super.init()
        self.examined = examined
    }

    override func next() throws -> Int64? {
        guard position < ids.count else { return nil }
        position += 1
        return ids[position - 1]
    }
}

/// The rows that a cursor returns: those after the offset, up to the limit.
struct RowSlice {
    let offset: Int
    let limit: Int?
}
