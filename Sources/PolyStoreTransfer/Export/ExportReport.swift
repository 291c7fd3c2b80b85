import PolyStoreBackend
import PolyStoreFormats
import PolyStoreKernel
import PolyStoreRuns

/// The result of an export.
public struct ExportReport: Sendable, Hashable, Codable {
    /// The name of the exported entity.
    public let entity: String
    /// The number of objects that were written.
    public internal(set) var objects = 0
    /// The number of bytes that were written.
    public internal(set) var bytes: Int64 = 0
    /// The time that the export took.
    public internal(set) var duration: Duration = .zero
}

extension ExportReport: CustomStringConvertible {
    /// `Exported 3 objects of City, 210 bytes, in 0.2 s.`
    public var description: String {
        "Exported \(objects) \(objects == 1 ? "object" : "objects") of \(entity), \(bytes) bytes, in \(duration.formattedSeconds) s."
    }
}

/// The progress of an export.
public struct ExportProgress: Sendable, Hashable {
    /// The number of objects that were written.
    public internal(set) var objects = 0
    /// The number of objects to write.
    public internal(set) var totalObjects: Int?
    /// The number of objects per second.
    public internal(set) var objectsPerSecond: Double = 0
    /// The estimated remaining time; `nil` at the beginning.
    public internal(set) var timeLeft: Duration?
    /// The completed fraction of the work, from 0 to 1; `nil` before the objects are counted.
    public internal(set) var fractionCompleted: Double?
    /// A Boolean value that indicates whether the export has ended.
    public internal(set) var isFinished = false
}

extension ExportProgress: RunProgress {
    /// `12000 of 40000 objects, 90000 objects/s`.
    public var description: String {
        var text = totalObjects.map { "\(objects) of \($0) objects" } ?? "\(objects) objects"
        if objectsPerSecond >= 1, objectsPerSecond < 1e15 { text += ", \(Int64(objectsPerSecond)) objects/s" }
        if let timeLeft, !isFinished { text += ", \(timeLeft.components.seconds) s left" }
        return text
    }
}

/// A running or finished export.
///
///     let run = stack.startExport(From<City>(), to: .file(path: "cities.jsonl"))
///     for await progress in run.updates { print(progress) }
///     print(try await run.value)
///
/// Its value throws the error that ended the export: `cancelled`, or an error of reading the store or writing the destination.
public typealias ExportRun = Run<ExportProgress, ExportReport>

/// The fields that an export writes, and their names.
///
///     var options = ExportOptions<City>()
///     options.fields = [\.name, \.population, \.country]
///     options.names = ["population": "inhabitants"]
public struct ExportOptions<T: Model>: Sendable {
    /// The attributes and relationships to write, in order; `nil` writes all of them. A to-one relationship is written as the unique id of its target, a
    /// to-many relationship as an array of unique ids.
    public var fields: [PartialKeyPath<T> & Sendable]?
    /// The names of fields in the destination, by the stored names of their properties. A property that is not listed keeps its stored name.
    public var names: [String: String] = [:]
    /// The stored names of the properties to write, in order; `nil` for ``fields``.
    package var storedNames: [String]?
    /// The name of the exported entity in reports and errors; `nil` for that of the class.
    package var entityName: String?
    /// A Boolean value that indicates whether the first column is the row id of the object, named ``rowID``.
    package var includesRowIDs = false
    /// A Boolean value that indicates whether targets without a unique id are written as their row ids instead of being refused or omitted.
    package var writesRowIDs = false

    /// The name of the row id in the destination.
    package static var rowID: String { "_id" }

    /// Creates options.
    public init(fields: [PartialKeyPath<T> & Sendable]? = nil, names: [String: String] = [:]) {
        self.fields = fields
        self.names = names
    }
}
