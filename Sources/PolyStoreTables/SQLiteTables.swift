import Foundation
import PolyStoreBackend
import PolyStoreDynamic
import PolyStoreKernel
import PolyStoreSource

/// A database of SQLite that this library did not write, as a schema with its rows.
///
///     let tables = try SQLiteTables(path: "chinook.db")
///     print(try tables.modelSource().text)
///     for limitation in tables.limitations { print(limitation) }
///     try tables.importRows(into: try tables.stack(.sqlite(file: "music.sqlite")))
///
/// A table is an entity, a column an attribute. A foreign key of one column is a to-one relationship with an inverse, and a table that only connects two others is a many-to-many
/// relationship. The type of an attribute is found from the declared type and all values of the column: it is one from which each value is restored exactly. So rows that are imported and
/// exported again equal those of the database. ``limitations`` lists what the schema does not express.
///
/// The database is opened read-only, and read in one transaction. With a write-ahead log other programs can write meanwhile; with a rollback journal their commits wait.
public final class SQLiteTables: Sendable {
    /// A part of the database that the schema does not express.
    public struct Limitation: Sendable, Hashable, CustomStringConvertible {
        /// The name of the table or view.
        public let table: String
        /// The name of the column; nil for the table as a whole.
        public let column: String?
        /// The difference, as the end of a sentence that begins with the name.
        public let reason: String

        public var description: String { "\(table)\(column.map { ".\($0)" } ?? "") \(reason)" }
    }

    /// The path of the database.
    public let path: String
    /// The schema: an entity for each table, except for those that only connect two others.
    public let schema: SchemaDescription
    /// The parts of the database that the schema does not express.
    public let limitations: [Limitation]
    let plan: TablesPlan

    /// Reads the schema of a database, and all its values once to find the types of columns.
    /// - Parameters:
    ///   - path: The path of the file.
    ///   - name: The name of the schema; nil for the name of the file without its extension.
    /// - Throws: `io` if the file does not exist, `notAStore` if it is not a database of SQLite, `misuse` if it is a store of this library, `invalidSchema` if a table has too many columns.
    public init(path: String, name: String? = nil) throws {
        let connection = try TableConnection(path)
        let schemaName = name ?? URL(filePath: path).deletingPathExtension().lastPathComponent
        let (plan, notes) = try connection.reading {
            if try !connection.rows("SELECT 1 FROM sqlite_schema WHERE name = 'polystore_metadata'").isEmpty {
                throw StoreError(
                    .misuse, "\(path) is a store of PolyStore, which has a schema of its own: open it with DataStack(opening:).",
                    location: path)
            }
            var planner = try SchemaPlanner(connection)
            let plan = try planner.plan(named: schemaName)
            return (plan, planner.notes)
        }
        _ = try ResolvedSchema(plan.schema)
        self.path = path
        self.plan = plan
        schema = plan.schema
        limitations = notes.map { Limitation(table: $0.table, column: $0.column, reason: $0.reason) }
    }

    /// Returns the source of classes for the schema.
    /// - Throws: `invalidSchema`.
    public func modelSource(_ options: ModelSource.Options = ModelSource.Options()) throws -> ModelSource {
        try ModelSource(schema, options: options)
    }

    /// Returns a stack without classes for the schema, with a store that is created if it does not exist.
    /// - Throws: `migrationRequired` if the store exists and has another schema, and the other errors of opening a store.
    public func stack(_ store: StoreConfiguration, logger: any StoreLogger = StandardErrorLogger()) throws -> DataStack {
        let stack = try DataStack(Schema(schema), logger: logger)
        try stack.addStore(store)
        return stack
    }
}
