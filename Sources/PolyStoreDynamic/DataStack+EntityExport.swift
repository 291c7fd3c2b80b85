public import Foundation
import PolyStoreBackend
public import PolyStoreFormats
import PolyStoreKernel
import PolyStoreTransfer

/// The properties that an export of an entity without a class writes, and their names.
public struct EntityExportOptions: Sendable, Hashable {
    /// The name of the field with the row id of an object.
    public static let rowID = "_id"

    /// The names of the attributes and relationships to write, in order; `nil` writes all of them.
    public var properties: [String]?
    /// The names of fields in the destination, by the names of their properties.
    public var names: [String: String]
    /// A Boolean value that indicates whether the first field is ``rowID``. An import needs it to find the objects that others refer to by their row ids. Rename a property that has
    /// the same name.
    public var includesRowIDs: Bool

    /// Creates options.
    public init(properties: [String]? = nil, names: [String: String] = [:], includesRowIDs: Bool = false) {
        self.properties = properties
        self.names = names
        self.includesRowIDs = includesRowIDs
    }
}

extension DataStack {
    /// Writes objects without a class to a file or another destination, in JSON Lines, JSON or CSV.
    ///
    ///     try await stack.export(EntityQuery("Person").where("age > 30").orderBy("name"), to: .file(path: "people.jsonl"))
    ///
    /// The values are those of an export of objects with classes. A relationship is written as the unique ids of its targets, or as their row ids if their entity has no unique
    /// attribute: `12`. A target whose unique attribute is null is written as `{"_id": 12}`. In a hierarchy, a relationship uses the unique attributes of the root, or those of the
    /// subentity that declares the inverse. The objects of a hierarchy have a field `_entity` with the name of their subentity. An import by name reads all of them; it finds
    /// targets by their row ids if they are of the exported entity and ``EntityExportOptions/includesRowIDs`` is set.
    /// - Parameters:
    ///   - query: The objects to export, and their order.
    ///   - destination: A file, standard output or another sink, and its format.
    ///   - options: The properties to export, and their names.
    ///   - file: The source file of the call, for log messages and errors.
    ///   - line: The source line of the call, for log messages and errors.
    /// - Throws: `storeNotFound` for an unknown entity, `misuse` for an unknown property, and the errors of an export of objects with classes.
    @discardableResult
    public func export(
        _ query: EntityQuery, to destination: ExportDestination, options: EntityExportOptions = EntityExportOptions(),
        file: StaticString = #fileID, line: UInt = #line
    ) async throws -> ExportReport {
        let run = try startExport(query, to: destination, options: options, file: file, line: line)
        return try await withTaskCancellationHandler {
            try await run.value
        } onCancel: {
            run.cancel()
        }
    }

    /// Starts an export and returns a handle for it; see ``export(_:to:options:file:line:)-(EntityQuery,_,_,_,_)``.
    public func startExport(
        _ query: EntityQuery, to destination: ExportDestination, options: EntityExportOptions = EntityExportOptions(),
        file: StaticString = #fileID, line: UInt = #line
    ) throws -> ExportRun {
        let entry = try entry(named: query.entity)
        func start<T: Model>(_ type: T.Type) throws -> ExportRun {
            startExport(query.chain(type, entry), to: destination, options: try options.resolved(query, entry), file: file, line: line)
        }
        return try start(entry.type)
    }

    /// Exports on the caller's thread; see ``export(_:to:options:file:line:)-(EntityQuery,_,_,_,_)``.
    @discardableResult
    public func exportAndWait(
        _ query: EntityQuery, to destination: ExportDestination, options: EntityExportOptions = EntityExportOptions(),
        file: StaticString = #fileID, line: UInt = #line
    ) throws -> ExportReport {
        let entry = try entry(named: query.entity)
        func export<T: Model>(_ type: T.Type) throws -> ExportReport {
            try exportAndWait(
                query.chain(type, entry), to: destination, options: try options.resolved(query, entry), file: file, line: line)
        }
        return try export(entry.type)
    }

    /// Returns objects as JSON, JSON Lines or CSV in memory; see ``export(_:to:options:file:line:)-(EntityQuery,_,_,_,_)``.
    public func export(
        _ query: EntityQuery, format: RecordFormat, options: EntityExportOptions = EntityExportOptions(), file: StaticString = #fileID,
        line: UInt = #line
    ) async throws -> Data {
        let entry = try entry(named: query.entity)
        func export<T: Model>(_ type: T.Type) async throws -> Data {
            try await self.export(
                query.chain(type, entry), format: format, options: try options.resolved(query, entry), file: file, line: line)
        }
        return try await export(entry.type)
    }
}

extension EntityExportOptions {
    /// Returns the options of an export of the entity's class.
    /// - Throws: `misuse` for a property that the entity does not have.
    fileprivate func resolved<T: Model>(_ query: EntityQuery, _ entry: StoreEntity) throws -> ExportOptions<T> {
        let kind = entry.entity.entityClass(named: query.entity)
        // The objects of a class can be of its subentities, which have properties of their own.
        let concrete = entry.entity.classes.filter { kind?.concreteNames.contains($0.name) ?? false }
        let all = entry.entity.propertyNames(of: nil).filter { name in
            concrete.isEmpty || concrete.contains { entry.entity.propertyNames(of: $0).contains(name) }
        }
        if let unknown = properties?.first(where: { !all.contains($0) }) {
            throw StoreError(
                .misuse, "\(query.entity) has no property \"\(unknown)\"; it has \(all.joined(separator: ", ")).", entity: query.entity,
                attribute: unknown)
        }
        var options = ExportOptions<T>()
        options.names = names
        options.entityName = query.entity
        options.writesRowIDs = true
        options.includesRowIDs = includesRowIDs
        options.storedNames = (kind == nil ? [] : [EntityHierarchy.classifier]) + (properties ?? all)
        return options
    }
}
