import BrowserData
import Foundation
import PolyStore
import PolyStoreBackend
import PolyStoreLMDB
import PolyStoreLevelDB
import PolyStorePostgreSQL
import PolyStoreSQLite
import StoreTesting

/// Another type of that name imports references.
typealias ObjectReference = BrowserData.ObjectReference

/// A club with relationships of each delete rule, to a hierarchy, ordered, and without an inverse.
@Model final class Club {
    @Attribute(.unique, .length(1...40)) var name: String
    var motto: String?
    var founded: Date?
    var budget: Decimal = 0
    var crest: Data?
    var settings: [String] = []
    var isOpen: Bool = true
    @Relationship(deleteRule: .cascade, inverse: "club") var players: Set<Player>
    @Relationship(deleteRule: .deny, inverse: "club") var contracts: Set<Contract>
    @Relationship(deleteRule: .nullify, inverse: "club") var fans: Set<Fan>
    @Relationship(inverse: "clubs") var songs: [Song]
}

@Model(subentities: "Keeper") class Player {
    var name: String = ""
    var number: Int16 = 0
    @Relationship(required: true) var club: Club?
}

@Model final class Keeper: Player {
    var saves: UInt64 = 0
    var licence: String
}

@Model(isAbstract: true, subentities: "Contract") class Paper {
    var title: String = ""
}

@Model final class Contract: Paper {
    @Relationship var club: Club?
}

@Model final class Fan {
    var name: String = ""
    @Relationship var club: Club?
}

@Model final class Song {
    @Attribute(.unique) var title: String
    @Relationship var clubs: Set<Club>
}

/// Leads to a club without an inverse.
@Model final class Visit {
    var at: Date = Date()
    var token: UUID = UUID()
    @Relationship var club: Club?
}

/// A store of clubs, and the browser that changes it.
struct League: Sendable {
    static let schema = Schema("League 1", Club.self, Player.self, Paper.self, Fan.self, Song.self, Visit.self)
    static let engines = StoreEngines([.sqlite, .lmdb, .levelDB, .postgreSQL])

    let folder: TemporaryFolder
    let engine: Engine
    let url: String

    /// Creates a store with two clubs.
    init(_ engine: Engine, history: HistoryOptions? = nil) throws {
        folder = try TemporaryFolder()
        self.engine = engine
        url = engine.url(folder, "league")
        let stack = try stack(history: history)
        try stack.performAndWait(sourceIdentifier: "setup") { transaction in
            let red = try transaction.create(Club.self) { ($0.name, $0.motto, $0.budget) = ("Red", "Run", Decimal(string: "12.50") ?? 0) }
            let blue = try transaction.create(Club.self) { ($0.name, $0.crest) = ("Blue", Data([0x89, 0x50, 0, 255])) }
            for (name, number) in [("Ann", 1), ("Bob", 2), ("Cid", 3)] {
                try transaction.create(Player.self) { ($0.name, $0.number, $0.club) = (name, Int16(number), red) }
            }
            try transaction.create(Keeper.self) { ($0.name, $0.licence, $0.saves, $0.club) = ("Kim", "A1", .max, red) }
            try transaction.create(Contract.self) { ($0.title, $0.club) = ("Shirts", blue) }
            for name in ["Fay", "Flo"] { try transaction.create(Fan.self) { ($0.name, $0.club) = (name, red) } }
            let songs = try ["One", "Two", "Three"].map { title in try transaction.create(Song.self) { $0.title = title } }
            red.songs = songs
            try transaction.create(Visit.self) { $0.club = red }
        }
        try stack.closeAndWait()
    }

    /// Opens the store with its classes, as another program does.
    func stack(history: HistoryOptions? = nil) throws -> DataStack {
        let stack = try DataStack(Self.schema, logger: SilentLogger())
        try stack.addStore(url: url, engines: Self.engines, history: history)
        return stack
    }

    /// Opens the store as the browser does.
    func browser(writes: Bool = true) async throws -> BrowserStore {
        try await BrowserStore.open(Self.engines.configuration(url), forWriting: writes, logger: SilentLogger())
    }

    /// Changes the store by another connection; in LevelDB, which one process opens once, by that of the browser.
    func changeElsewhere(
        _ browser: BrowserStore, history: HistoryOptions? = nil, author: String? = nil,
        _ body: @escaping @Sendable (Transaction) throws -> Void
    ) async throws {
        guard engine != .leveldb else { return try await browser.stack.perform(sourceIdentifier: author, body) }
        let other = try DataStack(
            opening: Self.engines.configuration(url), forWriting: true, history: history, logger: SilentLogger())
        try await other.perform(sourceIdentifier: author, body)
        try await other.close()
    }
}

extension BrowserStore {
    /// Returns the reference of the object with a name.
    func reference(_ entity: String, _ name: String) async throws -> ObjectReference {
        let label = try model(entity).label ?? ""
        let found = try await reading { context in
            try context.fetchOne(EntityQuery(entity).where("\(label.asPath) == %@", name)).map {
                ObjectReference(entity: $0.entityName, rowID: $0.id.rowID)
            }
        }
        guard let found else { throw StoreError(.notFound, "There is no \(entity) \(name).") }
        return found
    }

    /// Returns the text of a value, or of the ids of targets; nil for null.
    func text(_ reference: ObjectReference, _ property: String) async throws -> String? {
        let id = try stack.objectID(reference.entity, rowID: reference.rowID)
        let isToMany = try model(reference.entity).relationship(property)?.isToMany ?? false
        return try await reading { context in
            guard let object = try context.fetchExisting(id) else { return "(deleted)" }
            if isToMany { return try object.objects(property).map { "\($0.id.rowID)" }.joined(separator: " ") }
            return try object.value(property).map { if case .text(let text) = $0 { text } else { "\($0)" } }
        }
    }

    /// Returns the texts of several properties.
    func texts(_ reference: ObjectReference, _ properties: String...) async throws -> [String?] {
        var texts: [String?] = []
        for property in properties { texts.append(try await text(reference, property)) }
        return texts
    }

    /// Returns the numbers of objects of entities.
    func counts(_ entities: String...) async throws -> [Int] {
        var counts: [Int] = []
        for entity in entities { counts.append(try await count(entity)) }
        return counts
    }

    /// Returns the number of objects.
    func count(_ entity: String) async throws -> Int { try await reading { try $0.fetchCount(EntityQuery(entity)) } }
}

extension EditOutcome {
    /// The preview of any outcome but a conflict.
    var preview: ChangePreview? {
        switch self {
        case .accepted(let preview), .committed(_, let preview), .refused(let preview): preview
        case .conflict(let conflict): conflict.preview
        }
    }

    var conflict: EditConflict? { if case .conflict(let conflict) = self { conflict } else { nil } }
    var isAccepted: Bool { if case .accepted = self { true } else { false } }
    var isRefused: Bool { if case .refused = self { true } else { false } }
    var isCommitted: Bool { if case .committed = self { true } else { false } }
}

extension ChangePreview {
    /// The changes as texts: `~ Club Red: name Red → Pink`.
    var lines: [String] {
        objects.map { change in
            let mark = change.kind == .inserted ? "+" : change.kind == .updated ? "~" : "-"
            let properties = change.properties.map { property in
                var text = property.name
                if property.old != nil || property.new != nil || property.added.isEmpty && property.removed.isEmpty {
                    text += " \(property.old ?? "null") → \(property.new ?? "null")"
                }
                text += property.added.map { " +\($0.title)" }.joined() + property.removed.map { " -\($0.title)" }.joined()
                return text
            }
            return "\(mark) \(change.object.entity) \(change.object.title)"
                + (properties.isEmpty ? "" : ": " + properties.joined(separator: ", "))
        }
    }
}
