import BrowserData
import Foundation
import PolyStore

/// The objects of an entity in memory, to compare answers with.
struct Naive {
    let rows: [(id: Int64, values: QueryRow)]

    init(_ entity: String, _ store: BrowserStore) throws {
        rows = try store.stack.readAndWait { context in
            try context.fetchAll(EntityQuery(entity)).map { (id: $0.id.rowID, values: try $0.values()) }
        }
    }

    /// Returns the ids in the order of a property: null first, then by value and by id; descending is the reverse.
    func ids(by property: String?, isAscending: Bool = true, where isSelected: (QueryRow) -> Bool = { _ in true }) -> [Int64] {
        let sorted = rows.filter { isSelected($0.values) }.sorted { left, right in
            guard let property else { return left.id < right.id }
            let order = Self.order(left.values[property], right.values[property])
            return order == 0 ? left.id < right.id : order < 0
        }
        return isAscending ? sorted.map(\.id) : sorted.map(\.id).reversed()
    }

    static func order(_ left: QueryValue?, _ right: QueryValue?) -> Int {
        func compare<T: Comparable>(_ left: T, _ right: T) -> Int { left < right ? -1 : left > right ? 1 : 0 }
        func bytes(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Int {
            left.lexicographicallyPrecedes(right) ? -1 : right.lexicographicallyPrecedes(left) ? 1 : 0
        }
        switch (left, right) {
        case (nil, nil): return 0
        case (nil, _): return -1
        case (_, nil): return 1
        case (.bool(let left)?, .bool(let right)?): return compare(left ? 1 : 0, right ? 1 : 0)
        case (.integer(let left)?, .integer(let right)?): return compare(left, right)
        case (.unsigned(let left)?, .unsigned(let right)?): return compare(left, right)
        case (.real(let left)?, .real(let right)?):
            return left.isNaN ? right.isNaN ? 0 : -1 : right.isNaN ? 1 : compare(left, right)
        case (.date(let left)?, .date(let right)?): return compare(left, right)
        case (.decimal(let left)?, .decimal(let right)?): return compare(left, right)
        case (.text(let left)?, .text(let right)?): return bytes(left.utf8, right.utf8)
        case (.url(let left)?, .url(let right)?): return bytes(left.absoluteString.utf8, right.absoluteString.utf8)
        case (.data(let left)?, .data(let right)?): return bytes(left, right)
        case (.uuid(let left)?, .uuid(let right)?):
            return withUnsafeBytes(of: left.uuid) { left in withUnsafeBytes(of: right.uuid) { bytes(left, $0) } }
        case (.objectID(let left)?, .objectID(let right)?): return compare(left.rowID, right.rowID)
        default: return 0
        }
    }
}
