import Foundation
import PolyStore
import PolyStoreBackend
import TestSupport
import Testing

/// Has a unique id, another unique attribute and a rule.
@Model
final class Town {
    @Attribute(.unique) var code: String
    @Attribute(.unique) var name: String
    @Attribute(.range(0...1_000_000)) var population: Int = 0
    @Relationship var region: Town?
}

/// The error that the model throws for a refused town.
struct RefusedTown: Error, CustomStringConvertible {
    let description = "the town is refused"
}

struct TownSource: Decodable, Sendable {
    var code: String?
    var name: String
    var population: Int
    var region: String?

    init(_ number: Int, name: String? = nil, population: Int? = nil, region: String? = nil) {
        code = "t\(number)"
        self.name = name ?? "Town \(number)"
        self.population = population ?? number
        self.region = region
    }

    /// The town as JSON, for a JSON Lines file.
    var line: String {
        var text = "{"
        if let code { text += "\"code\": \"\(code)\", " }
        return text + "\"name\": \"\(name)\", \"population\": \(population)\(region.map { ", \"region\": \"\($0)\"" } ?? "")}\n"
    }
}

extension Town: ImportableUniqueObject {
    static var uniqueIDKeyPath: ReferenceWritableKeyPath<Town, String> { \.code }

    static func uniqueID(from source: TownSource, in transaction: Transaction) throws -> String? { source.code }
    static func shouldInsert(from source: TownSource, in transaction: Transaction) throws -> Bool { source.name != "never insert" }
    static func shouldUpdate(from source: TownSource, in transaction: Transaction) throws -> Bool { source.name != "never update" }

    func update(from source: TownSource, in transaction: Transaction) throws {
        name = source.name
        population = source.population
        if source.name == "refused" { throw RefusedTown() }
        if let region = source.region { try transaction.reference(Into<Town>(), uniqueID: region).assign(to: \.region, on: self) }
    }
}

/// Without a unique id, imported from records.
@Model
final class Stop {
    var place: String = ""
    var number: Int = 0
}

extension Stop: ImportableObject {
    func didInsert(from source: SourceRecord, in transaction: Transaction) throws {
        place = try source.require("place")
        number = try source.require("number")
    }
}

/// A stack with towns and stops in one store. Fails the test on any warning or error in the log.
final class Towns: Sendable {
    let folder: Folder
    let stack: DataStack
    let logger = RecordingLogger()

    init(_ backend: Backend) throws {
        folder = try Folder()
        stack = try DataStack(Schema("Towns 1", Town.self, Stop.self), logger: logger)
        // Independent of the speed of the machine.
        stack.snapshotWarningAge = .seconds(100_000)
        try stack.addStore(backend.store(in: folder))
    }

    deinit { if !logger.lines.isEmpty { Issue.record("unexpected log: \(logger.lines)") } }

    func write(_ text: String, to name: String) throws -> String {
        let path = folder.path + "/" + name
        try Data(text.utf8).write(to: URL(fileURLWithPath: path))
        return path
    }

    /// The populations of all towns by their codes.
    func populations() throws -> [String: Int] {
        try stack.readAndWait { context in
            Dictionary(uniqueKeysWithValues: try context.fetchAll(From<Town>()).map { ($0.code, $0.population) })
        }
    }

    /// The numbers of all stops, in ascending order.
    func stops() throws -> [Int] {
        try stack.readAndWait { try $0.fetchAll(From<Stop>().orderBy(.ascending(\.number))).map(\.number) }
    }
}

/// Returns stops as JSON Lines.
func stopLines(_ numbers: some Sequence<Int>) -> String { numbers.map { "{\"place\": \"p\($0)\", \"number\": \($0)}\n" }.joined() }
