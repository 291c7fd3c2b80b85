import PolyStoreBackend
import PolyStoreFormats
import PolyStoreKernel

/// A reader of the objects of an export from one snapshot, in batches of rows.
final class ExportReader {
    private struct Row {
        let plan: Int
        let key: Int64
        var values: [JSONValue]
        /// The row ids of the targets, by to-one column; 0 for none.
        var targets: [Int64] = []
    }

    private let context: SnapshotContext
    private let fetch: ResolvedFetch
    /// The plans, by part of the fetch.
    private let plans: [ExportPlan]
    private var rows: [Row] = []

    /// The number of rows that are resolved and written together.
    static let batchSize = 500

    init<T: Model>(_ context: SnapshotContext, _ chain: FetchChain<T>, _ options: ExportOptions<T>) throws {
        self.context = context
        fetch = try context.resolve(chain)
        plans = try fetch.parts.map { try ExportPlan(T.self, $0.entry, options, context) }
    }

    /// The names of the fields.
    var names: [String] { plans.first?.names ?? [] }

    /// Calls a closure with each batch of rows, in order.
    func read(_ body: ([[JSONValue]]) throws -> Void) throws {
        if fetch.isMerged {
            try context.walk(fetch, context.openSteadily) { part, cursor in
                try add(fetch.parts.firstIndex { $0.entry === part.entry } ?? 0, cursor, body)
            }
        } else if let part = fetch.parts.first {
            let cursor = try context.openSteadily(part)
            defer { cursor.close() }
            while try cursor.next() { try add(0, cursor, body) }
        }
        try flush(body)
    }

    private func add(_ index: Int, _ cursor: RecordCursor, _ body: ([[JSONValue]]) throws -> Void) throws {
        let plan = plans[index]
        var row = Row(plan: index, key: cursor.rowID, values: [])
        row.values.reserveCapacity(plan.columns.count)
        for column in plan.columns {
            switch column {
            case .rowID: row.values.append(.number(JSONNumber(cursor.rowID)))
            case .attribute(let field): row.values.append(try described(plan, cursor.rowID) { try JSONValue(cursor.record, field) })
            case .toOne(let field, _):
                row.targets.append(ToOne(cursor.record, field).rowID)
                row.values.append(.null)
            case .toMany: row.values.append(.array([]))
            }
        }
        rows.append(row)
        if rows.count == Self.batchSize { try flush(body) }
    }

    private func described<R>(_ plan: ExportPlan, _ rowID: Int64, _ body: () throws -> R) throws -> R {
        do { return try body() } catch { throw context.described(error, plan.entry, rowID) }
    }

    private func flush(_ body: ([[JSONValue]]) throws -> Void) throws {
        guard !rows.isEmpty else { return }
        for index in plans.indices { try resolve(index) }
        defer { rows.removeAll(keepingCapacity: true) }
        try body(rows.map(\.values))
    }

    // MARK: Relationships

    /// Resolves the relationships of the rows of one store.
    private func resolve(_ index: Int) throws {
        let plan = plans[index]
        let mine = rows.indices.filter { rows[$0].plan == index }
        guard !mine.isEmpty else { return }
        var toOnes = 0
        for (column, kind) in plan.columns.enumerated() {
            switch kind {
            case .rowID, .attribute: break
            case .toOne(_, let target):
                let toOneIndex = toOnes
                toOnes += 1
                let ids = try target.ids(of: Set(mine.lazy.map { self.rows[$0].targets[toOneIndex] }.filter { $0 != 0 }), in: context)
                for row in mine { rows[row].values[column] = ids[rows[row].targets[toOneIndex]] ?? .null }
            case .toMany(let relationship, let target):
                let related = try context.storage(plan.entry.store).related(relationship, of: mine.map { rows[$0].key })
                let ids = try target.ids(of: Set(mine.lazy.flatMap { related[self.rows[$0].key] }), in: context)
                for row in mine { rows[row].values[column] = .array(related[rows[row].key].compactMap { ids[$0] }) }
            }
        }
    }
}
