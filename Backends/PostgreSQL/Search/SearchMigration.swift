import PolyStoreBackend
import PolyStoreQuery

/// The full-text indexes of a store at the commit of a migration: those whose texts the migration carries over stay, the others are built when the store is opened.
struct SearchMigration {
    /// The statements that write the indexes of the target.
    private(set) var statements: [Statement] = []
    /// The quoted names of the tables that the store does not have after the migration.
    private(set) var removed: [String] = []

    init(_ change: SchemaChange, _ final: StoreTables, _ connection: Connection) throws {
        let hasTables = try connection.rows("SELECT format FROM \(final.own("metadata"))").integer(0, 0) ?? 0 >= StoreTables.searchFormat
        var wanted = final.searchDefinitions
        if wanted.isEmpty {
            if hasTables { removed = [final.searchPages, final.search] }
            return
        }
        let location = connection.location
        let stored =
            try hasTables
            ? SearchDefinition.read(connection.rows(SearchDefinition.reading(final)), location: location)
                .map { try $0.resolved(change.source, location: location) } : []
        var kept: Set<Int32> = []
        for position in wanted.indices {
            let target = try wanted[position].resolved(change.target, location: location)
            let index = stored.first { Self.carries(change, $0, to: target) && !kept.contains(Int32($0.number)) }
            wanted[position].number = index.map { Int32($0.number) } ?? 0
            if let index { kept.insert(Int32(index.number)) }
        }
        var next = stored.map { Int32($0.number) }.max() ?? 0
        var sql = hasTables ? [] : try final.searchCreation + final.searchRights(connection)
        for index in stored where !kept.contains(Int32(index.number)) {
            sql.append("DELETE FROM \(final.searchPages) WHERE \"index\" = \(index.number)")
            sql.append("DELETE FROM \(final.search) WHERE \"index\" = \(index.number)")
        }
        for definition in wanted {
            if definition.number > 0 {
                sql.append(definition.renaming(final))
            } else {
                next += 1
                var new = definition
                new.number = next
                sql.append(new.insertion(isComplete: false, final))
            }
        }
        statements = sql.map { .once($0) }
    }

    /// Returns whether the texts of an index are those of another one after the migration.
    private static func carries(_ change: SchemaChange, _ source: StoredSearchIndex, to target: StoredSearchIndex) -> Bool {
        guard source.options == target.options, case .carried(source.entity, let parts) = change.entities[target.entity] else {
            return false
        }
        let fields: [Int?] = target.fields.map { field in
            guard case .field(let origin, let replacement) = parts[field] else { return nil }
            return replacement.isNull || !change.source.entities[source.entity].fields[origin].isOptional ? origin : nil
        }
        return fields == source.fields.map { $0 }
    }
}
