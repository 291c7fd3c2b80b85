import Foundation
import PolyStoreBackend
import PolyStoreDynamic
import PolyStoreKernel

extension SQLiteTables {
    /// Writes the objects of a stack as rows of a new database with the tables, indexes, views and triggers of this one.
    ///
    /// The stack is one of ``stack(_:logger:)``, or one that is opened without classes on a store that was filled by it. All rows are of one snapshot. The file appears when it is complete.
    /// - Parameters:
    ///   - stack: The stack.
    ///   - path: The path of the new database.
    ///   - progress: Called after each 500 rows. An error that it throws ends the export.
    /// - Returns: The number of rows of each table.
    /// - Throws: `io` if the file exists, `invalidValue` if a value cannot be one of its column or a reference leads to an object whose key is nil, `corrupt` if a declaration of the
    ///   database is not one statement, `unsupported` if a table has a collating sequence of another program, and the errors of both databases.
    @discardableResult
    public func exportRows(from stack: DataStack, to path: String, progress: (RowCounts) throws -> Void = { _ in }) throws -> RowCounts {
        guard !FileManager.default.fileExists(atPath: path) else {
            throw StoreError(.io, "\(path) exists. Name another file, or delete this one first.", location: path)
        }
        let unfinished = "\(path).unfinished-\(UUID().uuidString)"
        // No other export has the name.
        defer { for suffix in ["", "-journal", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: unfinished + suffix) } }
        let counts = try export(stack, unfinished, progress)
        do { try FileManager.default.moveItem(atPath: unfinished, toPath: path) } catch {
            let isFull = (error as? CocoaError)?.code == .fileWriteOutOfSpace
            throw StoreError(
                isFull ? .full : .io,
                "The complete export cannot get the name \(path): \(error.localizedDescription) Check the folder and the disk.",
                location: path, underlying: "\(error)")
        }
        return counts
    }

    private func export(_ stack: DataStack, _ file: String, _ progress: (RowCounts) throws -> Void) throws -> RowCounts {
        let connection = try TableConnection(file, creating: true)
        return try withoutActuallyEscaping(progress) { progress in
            let work = RowExport(plan: plan, connection: connection, progress: progress)
            return try stack.readAndWait { try work.run($0) }
        }
    }
}

/// An export of objects as rows.
// One thread at a time uses the connection: the one that waits for the reading.
private struct RowExport: @unchecked Sendable {
    let plan: TablesPlan
    let connection: TableConnection
    let progress: (SQLiteTables.RowCounts) throws -> Void

    func run(_ context: Context) throws -> SQLiteTables.RowCounts {
        var counts = SQLiteTables.RowCounts()
        try connection.execute("BEGIN")
        do {
            for sql in plan.tableStatements { try connection.executeDeclaration(sql) }
            for table in plan.tables { try write(table, context, &counts) }
            for link in plan.links { try write(link, context, &counts) }
            for sql in plan.otherStatements { try connection.executeDeclaration(sql) }
            try plan.header.write(to: connection)
            try connection.execute("COMMIT")
        } catch {
            // The body is run again if a server has ended the connection.
            try? connection.execute("ROLLBACK")
            throw error
        }
        return counts
    }

    private func insertion(_ table: String, _ columns: [String]) throws -> TableStatement {
        let names = columns.map(quotedName).joined(separator: ", ")
        let values = columns.map { _ in "?" }.joined(separator: ", ")
        return try connection.prepare("INSERT INTO \(quotedName(table)) (\(names)) VALUES (\(values))")
    }

    private func write(_ table: TablePlan, _ context: Context, _ counts: inout SQLiteTables.RowCounts) throws {
        counts.rows[table.table] = 0
        let insertion = try insertion(table.table, table.columns.map(\.name))
        var query = EntityQuery(table.entity)
        for case .reference(let name, _, _) in table.columns.map(\.role) { query.options.prefetch.append(name) }
        try context.fetchInBatches(query, size: 500) { objects in
            for object in objects {
                try insertion.run(try table.columns.map { try value(of: object, $0.role, "\(table.table).\($0.name)") })
            }
            counts.rows[table.table, default: 0] += objects.count
            try progress(counts)
        }
    }

    private func value(of object: DynamicObject, _ role: ColumnRole, _ column: String) throws -> SQLiteValue {
        switch role {
        case .attribute(let name, let form): return try value(of: object, name, form, column)
        case .reference(let name, let key, _):
            guard let target = try object.object(name) else { return .null }
            return try self.key(of: target, key, column)
        }
    }

    private func key(of object: DynamicObject, _ key: RowKey, _ column: String) throws -> SQLiteValue {
        let value = try value(of: object, key.attribute, key.form, column)
        guard value != .null else {
            throw StoreError(
                .invalidValue,
                "\(object.id) cannot be exported: \(column) refers to it by \(key.attribute), which is nil. Give it a value.",
                entity: object.entityName, attribute: key.attribute)
        }
        return value
    }

    private func value(of object: DynamicObject, _ attribute: String, _ form: ColumnForm, _ column: String) throws -> SQLiteValue {
        guard let value = try object.value(attribute) else { return .null }
        guard let converted = form.columnValue(value) else {
            throw StoreError(
                .invalidValue,
                "\(object.id) cannot be exported: \(attribute) is \(value), which the column \(column) cannot express. Change the value.",
                entity: object.entityName, attribute: attribute)
        }
        return converted
    }

    private func write(_ link: LinkPlan, _ context: Context, _ counts: inout SQLiteTables.RowCounts) throws {
        counts.rows[link.table] = 0
        let insertion = try insertion(link.table, [link.sourceColumn, link.targetColumn])
        var query = EntityQuery(link.source.entity)
        query.options.prefetch.append(link.relationship)
        try context.fetchInBatches(query, size: 500) { objects in
            for object in objects {
                let source =
                    try object.objects(link.relationship).isEmpty
                    ? .null : key(of: object, link.source, "\(link.table).\(link.sourceColumn)")
                for target in try object.objects(link.relationship) {
                    try insertion.run([source, try key(of: target, link.target, "\(link.table).\(link.targetColumn)")])
                    counts.rows[link.table, default: 0] += 1
                }
            }
            try progress(counts)
        }
    }
}
