import Foundation
import PolyStoreBackend
import PolyStoreDynamic
import PolyStoreKernel

extension SQLiteTables {
    /// The rows that were imported or exported so far.
    public struct RowCounts: Sendable, Hashable {
        /// The number of rows by the name of their table.
        public internal(set) var rows: [String: Int] = [:]
        /// The number of all rows.
        public var total: Int { rows.values.reduce(0, +) }
    }

    /// Imports all rows into a stack of ``stack(_:logger:)``, whose store has no objects of the schema yet.
    ///
    /// The rows are written in several transactions, so that memory does not grow with their number. If an error ends the import, what it wrote is deleted.
    /// - Parameters:
    ///   - stack: The stack.
    ///   - batch: The number of rows in a transaction.
    ///   - progress: Called after each transaction. An error that it throws ends the import.
    /// - Returns: The number of rows of each table.
    /// - Throws: `misuse` if the store has objects, `invalidValue` if a value does not have the type of its attribute because another program has written it since the schema was read,
    ///   and the errors of both databases.
    @discardableResult
    public func importRows(into stack: DataStack, batch: Int = 500, progress: (RowCounts) throws -> Void = { _ in }) throws -> RowCounts {
        for table in plan.tables {
            let count = try stack.readAndWait { try $0.fetchCount(EntityQuery(table.entity)) }
            guard count == 0 else {
                throw StoreError(
                    .misuse,
                    "The store has \(count) objects of \(table.entity). Import the rows of \(path) into a store without objects, such as a new one.",
                    entity: table.entity)
            }
        }
        let work = RowImport(plan: plan, connection: try TableConnection(path), stack: stack, batch: max(1, batch))
        do { return try work.run(progress) } catch {
            do { try work.removeAll() } catch let failure {
                throw StoreError(
                    (error as? StoreError)?.code ?? .io,
                    "The import of \(path) ended, and objects that it wrote remain, because they cannot be deleted (\(failure)). Delete them. It ended with: \(error)",
                    location: path, underlying: "\(failure)")
            }
            throw error
        }
    }
}

/// An import of the rows of a database.
// One thread at a time uses the connection: the one that waits for the transactions.
private struct RowImport: @unchecked Sendable {
    let plan: TablesPlan
    let connection: TableConnection
    let stack: DataStack
    let batch: Int
    let created = CreatedRows()

    func run(_ progress: (SQLiteTables.RowCounts) throws -> Void) throws -> SQLiteTables.RowCounts {
        var counts = SQLiteTables.RowCounts()
        var later: [LateReference] = []
        try connection.reading {
            for table in plan.tables {
                counts.rows[table.table] = 0
                let columns = table.columns.map { quotedName($0.name) }.joined(separator: ", ")
                try inBatches("SELECT \(columns) FROM \(quotedName(table.table)) ORDER BY \(table.order)") { rows in
                    let written = try stack.performAndWait { try create(rows, of: table, in: $0) }
                    created.add(written.ids, table.entity)
                    later += written.later
                    counts.rows[table.table, default: 0] += rows.count
                    try progress(counts)
                }
            }
            for table in plan.tables { try connectLater(table) }
            try connect(later)
            for link in plan.links {
                counts.rows[link.table] = 0
                let sql =
                    "SELECT \(quotedName(link.sourceColumn)), \(quotedName(link.targetColumn)) FROM \(quotedName(link.table)) ORDER BY \(link.order)"
                try inBatches(sql) { rows in
                    try stack.performAndWait { try connect(rows, of: link, in: $0) }
                    counts.rows[link.table, default: 0] += rows.count
                    try progress(counts)
                }
            }
        }
        return counts
    }

    /// Deletes what was imported.
    func removeAll() throws {
        // References to rows that are deleted later would refuse the deletion of these, or continue it.
        for table in plan.tables {
            let names = table.columns.compactMap { if case .reference(let name, _, isLate: true) = $0.role { name } else { nil } }
            if names.isEmpty { continue }
            try changeCreated(table.entity) { _, object in
                for name in names { try object.set(name, to: nil as DynamicObject?) }
            }
        }
        for table in plan.tables.reversed() { try changeCreated(table.entity) { try $0.delete($1) } }
    }

    /// Changes the objects of an entity that this import created, without those that were deleted since.
    private func changeCreated(_ entity: String, _ body: @Sendable (Transaction, DynamicObject) throws -> Void) throws {
        for range in created.ranges[entity] ?? [] {
            var start = range.lowerBound
            while start <= range.upperBound {
                let end = min(range.upperBound, start + 999)
                let ids = try (start...end).map { try stack.objectID(entity, rowID: $0) }
                try stack.performAndWait { transaction in
                    for id in ids { if let object = try transaction.fetchExisting(id) { try body(transaction, object) } }
                }
                start = end + 1
            }
        }
    }

    private func inBatches(_ sql: String, _ body: ([[SQLiteValue]]) throws -> Void) throws {
        var rows: [[SQLiteValue]] = []
        try connection.rows(sql) { row in
            rows.append(row.row)
            guard rows.count == batch else { return }
            try body(rows)
            rows.removeAll(keepingCapacity: true)
        }
        if !rows.isEmpty { try body(rows) }
    }

    // MARK: Objects

    /// Creates objects.
    /// - Returns: Their row ids, and the references of rows that cannot be found again, to rows that are imported later.
    private func create(_ rows: [[SQLiteValue]], of table: TablePlan, in transaction: Transaction) throws
        -> (ids: [Int64], later: [LateReference])
    {
        var ids: [Int64] = []
        var later: [LateReference] = []
        var targets: [Int: [SQLiteValue: DynamicObject]] = [:]
        for (index, column) in table.columns.enumerated() {
            guard case .reference(_, let key, isLate: false) = column.role else { continue }
            targets[index] = try objects(key, rows.map { $0[index] }, transaction)
        }
        for row in rows {
            var values: [String: QueryValue?] = [:]
            for (index, column) in table.columns.enumerated() {
                guard case .attribute(let name, let form) = column.role else { continue }
                values[name] = .some(try attributeValue(row[index], form, table, column.name, row))
            }
            let object: DynamicObject
            do { object = try transaction.create(table.entity, values) } catch let error as StoreError {
                throw failure(table, nil, row, error.message, error.code)
            }
            ids.append(object.id.rowID)
            for (index, column) in table.columns.enumerated() {
                guard case .reference(let name, let key, let isLate) = column.role, row[index] != .null else { continue }
                if isLate {
                    if table.key == nil { later.append(LateReference(source: object.id, relationship: name, key: key, value: row[index])) }
                    continue
                }
                guard let target = targets[index]?[row[index]] else { throw missing(table, column.name, row, row[index]) }
                try object.set(name, to: target)
            }
        }
        return (ids, later)
    }

    private func attributeValue(_ value: SQLiteValue, _ form: ColumnForm, _ table: TablePlan, _ column: String, _ row: [SQLiteValue]) throws
        -> QueryValue?
    {
        if value == .null { return nil }
        guard form.accepts(value), let attribute = form.attributeValue(value) else {
            throw failure(
                table, column, row,
                "it was written after the schema was read, and is not a value of the type \(form.attributeType). Read the schema again",
                .invalidValue)
        }
        return attribute
    }

    private func missing(_ table: TablePlan, _ column: String, _ row: [SQLiteValue], _ value: SQLiteValue) -> StoreError {
        failure(table, column, row, "no row has the key \(value), to which the foreign key refers. Read the schema again", .invalidValue)
    }

    private func failure(_ table: TablePlan, _ column: String?, _ row: [SQLiteValue], _ reason: String, _ code: StoreError.Code)
        -> StoreError
    {
        let names = zip(table.columns, row).prefix(3).map { "\($0.name) = \($1.description.prefix(40))" }.joined(separator: ", ")
        return StoreError(
            code, "\(table.table)\(column.map { ".\($0)" } ?? "") cannot be imported from the row with \(names): \(reason).",
            entity: table.entity, location: connection.path)
    }

    // MARK: References

    /// Returns the objects with some keys.
    private func objects(_ key: RowKey, _ values: [SQLiteValue], _ transaction: Transaction) throws -> [SQLiteValue: DynamicObject] {
        let wanted = Set(values.filter { $0 != .null }).compactMap(key.form.attributeValue)
        guard let argument = Self.argument(wanted) else { return [:] }
        var found: [SQLiteValue: DynamicObject] = [:]
        for object in try transaction.fetchAll(EntityQuery(key.entity).where("%K IN %@", key.attribute, argument)) {
            if let value = try object.value(key.attribute).flatMap(key.form.columnValue) { found[value] = object }
        }
        return found
    }

    /// Returns values of one type as an argument of a condition; nil if there are none.
    private static func argument(_ values: [QueryValue]) -> (any QueryArgument & Sendable)? {
        switch values.first {
        case .integer: values.compactMap { $0.as(Int64.self) }
        case .real: values.compactMap { $0.as(Double.self) }
        case .text: values.compactMap { $0.as(String.self) }
        case .data: values.compactMap { $0.as(Data.self) }
        case .date: values.compactMap { $0.as(Date.self) }
        case .uuid: values.compactMap { $0.as(UUID.self) }
        case .decimal: values.compactMap { $0.as(Decimal.self) }
        case .bool: values.compactMap { $0.as(Bool.self) }
        default: nil
        }
    }

    /// Sets the references to rows that are imported after those that refer to them: of cycles, and to rows of the same table.
    private func connectLater(_ table: TablePlan) throws {
        // Those of rows without a key were collected.
        guard let own = table.key else { return }
        for column in table.columns {
            guard case .reference(let name, let key, isLate: true) = column.role else { continue }
            let (source, target) = (quotedName(table.columns[own.column].name), quotedName(column.name))
            try inBatches("SELECT \(source), \(target) FROM \(quotedName(table.table)) WHERE \(target) IS NOT NULL ORDER BY \(table.order)")
            { rows in
                try stack.performAndWait { transaction in
                    let sources = try objects(own.key, rows.map { $0[0] }, transaction)
                    let targets = try objects(key, rows.map { $0[1] }, transaction)
                    for row in rows {
                        guard let source = sources[row[0]], let target = targets[row[1]] else {
                            throw missing(table, column.name, row, row[1])
                        }
                        try source.set(name, to: target)
                    }
                }
            }
        }
    }

    /// Sets the references of rows that cannot be found again.
    private func connect(_ later: [LateReference]) throws {
        for start in stride(from: 0, to: later.count, by: batch) {
            let part = later[start..<min(start + batch, later.count)]
            try stack.performAndWait { transaction in
                for (key, references) in Dictionary(grouping: part, by: \.key) {
                    let targets = try objects(key, references.map(\.value), transaction)
                    for reference in references {
                        guard let target = targets[reference.value] else {
                            throw StoreError(
                                .invalidValue,
                                "No row of \(key.entity) has the key \(reference.value), to which a foreign key refers. Read the schema again.",
                                entity: key.entity, location: connection.path)
                        }
                        try transaction.edit(reference.source).set(reference.relationship, to: target)
                    }
                }
            }
        }
    }

    private func connect(_ rows: [[SQLiteValue]], of link: LinkPlan, in transaction: Transaction) throws {
        let sources = try objects(link.source, rows.map { $0[0] }, transaction)
        let targets = try objects(link.target, rows.map { $0[1] }, transaction)
        var members: [SQLiteValue: [DynamicObject]] = [:]
        for row in rows {
            guard sources[row[0]] != nil, let target = targets[row[1]] else {
                throw StoreError(
                    .invalidValue,
                    "\(link.table) cannot be imported: a row refers to \(row[0]) and \(row[1]), and one of them does not exist. Read the schema again.",
                    location: connection.path)
            }
            members[row[0], default: []].append(target)
        }
        for (key, targets) in members { try sources[key]?.insert(targets, into: link.relationship) }
    }
}

/// The row ids of the objects that an import created, by entity. They are consecutive for the most part, so that a few ranges express them.
private final class CreatedRows {
    private(set) var ranges: [String: [ClosedRange<Int64>]] = [:]

    func add(_ ids: [Int64], _ entity: String) {
        var own = ranges[entity] ?? []
        for id in ids.sorted() {
            if let last = own.last, last.upperBound + 1 == id {
                own[own.count - 1] = last.lowerBound...id
            } else {
                own.append(id...id)
            }
        }
        ranges[entity] = own
    }
}

/// A reference to a row that is imported later, from a row that has no unique column without null.
private struct LateReference: Sendable {
    let source: AnyObjectID
    let relationship: String
    let key: RowKey
    let value: SQLiteValue
}
