import PolyStoreBackend
import PolyStoreCollections

/// Merges the scans of several ranges. The entries of each range are in the requested order after a prefix of their own, as in `city IN {1, 2} ORDER BY age`.
final class MergedIndexSource: IDSource {
    private struct RangeScan {
        let source: IndexSource
        /// The length in bytes of the common prefix of the range.
        let prefix: Int
        var id: Int64

        /// Compares the current entry with that of another scan, in ascending order of components and row ids; negative if it comes first.
        func order(to other: RangeScan) -> Int {
            Order.of(
                UnsafeRawBufferPointer(rebasing: source.key[min(prefix, source.key.count)...]),
                UnsafeRawBufferPointer(rebasing: other.source.key[min(other.prefix, other.source.key.count)...]))
        }

        /// Compares the current entry with that of another scan, in descending order of components and ascending order of row ids.
        func reversedOrder(to other: RangeScan) -> Int {
            let order = source.components.dropFirst(prefix).withUnsafeBytes { mine in
                other.source.components.dropFirst(other.prefix).withUnsafeBytes { Order.of($0, mine) }
            }
            return order != 0 ? order : id < other.id ? -1 : 1
        }
    }

    /// The scans; the one with the next entry is the last element.
    private var scans: [RangeScan] = []
    private var isStarted = false
    private let reader: SnapshotReader
    private let search: IndexSearch
    private let isReversed: Bool

    /// - Parameters:
    ///   - search: The search, whose ranges are prefixes with one value in the leading fields each.
    ///   - isReversed: Whether the entries are returned in descending order, equal ones in ascending order of row ids.
    init(_ reader: SnapshotReader, _ search: IndexSearch, isReversed: Bool) {
        self.reader = reader
        self.search = search
        self.isReversed = isReversed
    }

    private func start() throws {
        isStarted = true
        for range in search.ranges {
            let source = try IndexSource.make(reader, search.index, [range], isReversed: isReversed)
            guard let id = try source.next() else { continue }
            examined += 1
            insert(RangeScan(source: source, prefix: range.start.count, id: id))
        }
    }

    private func insert(_ scan: RangeScan) {
        let index = (0..<scans.count).partition { (isReversed ? scan.reversedOrder(to: scans[$0]) : scan.order(to: scans[$0])) < 0 }
        scans.insert(scan, at: index)
    }

    override func next() throws -> Int64? {
        if !isStarted { try start() }
        guard var scan = scans.popLast() else { return nil }
        let id = scan.id
        if let next = try scan.source.next() {
            examined += 1
            scan.id = next
            insert(scan)
        }
        return id
    }

    override func close() {
        for scan in scans { scan.source.close() }
        scans = []
    }
}
