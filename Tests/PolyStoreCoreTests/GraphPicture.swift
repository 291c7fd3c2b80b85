import PolyStoreBackend
import PolyStoreCore
import TestModels

/// The contents of a context as lines of text: of every store the objects in their order, with their values and the targets of all relationships.
struct GraphPicture: Equatable {
    private(set) var lines: [String] = []

    init(_ state: GraphState) {
        for store in 0..<2 {
            for family in GraphKind.families {
                let keys = state.objects.keys.filter { $0.store == store && $0.family == family }.sorted()
                for key in keys {
                    guard let object = state.objects[key] else { continue }
                    lines.append(
                        Self.line(key, object.kind, object.numbers, GraphRelationship.of(object.kind).map { ($0, state.members(key, $0)) }))
                }
                lines.append("\(keys.count) of \(family) in store \(store)")
                if family == .person {
                    let ages = keys.map { (-(state.objects[$0]?.numbers[0] ?? 0), $0.rowID) }.sorted { $0 < $1 }
                    lines.append("by age: \(ages.map(\.1))")
                    lines.append("single: \(keys.filter { state.members($0, .spouse).isEmpty }.map(\.rowID))")
                }
                if family == .human {
                    lines.append("workers: \(keys.filter { state.objects[$0]?.kind == .worker }.map(\.rowID))")
                }
            }
        }
    }

    init(_ context: Context) throws {
        for (store, name) in ["A", "B"].enumerated() {
            for family in GraphKind.families {
                switch family {
                case .person:
                    try add(context, From<Person>(name), store, family)
                    let ids = try context.fetchObjectIDs(From<Person>(name).orderBy(.descending(\.age)))
                    lines.append("by age: \(ids.map(\.graphRowID))")
                    let single = try context.fetchAll(From<Person>(name), Where(\.spouse == nil))
                    lines.append("single: \(single.map(\.objectID.graphRowID))")
                case .department: try add(context, From<Department>(name), store, family)
                case .project: try add(context, From<Project>(name), store, family)
                case .playlist: try add(context, From<Playlist>(name), store, family)
                case .track: try add(context, From<Track>(name), store, family)
                case .tag: try add(context, From<MusicTag>(name), store, family)
                case .visit: try add(context, From<Visit>(name), store, family)
                case .human, .worker:
                    try add(context, From<Party>(name), store, family)
                    lines.append("workers: \(try context.fetchObjectIDs(From<Worker>(name)).map(\.graphRowID))")
                }
            }
        }
    }

    private mutating func add<T: Model>(_ context: Context, _ from: From<T>, _ store: Int, _ family: GraphKind) throws {
        for object in try context.fetchAll(from) { lines.append(try Self.line(object, store)) }
        lines.append("\(try context.fetchCount(from)) of \(family) in store \(store)")
    }

    private static func line(_ object: any Model, _ store: Int) throws -> String {
        guard let key = GraphKey(object), let kind = GraphKind(object) else { return "unknown \(object)" }
        let numbers = (0..<kind.attributeCount).map { GraphKind.number(object, $0) }
        let members = try GraphRelationship.of(kind).map { relationship in
            // A target that is not of the model is shown with the row id 0.
            (relationship, try relationship.accept(GraphRelationshipReader(object: object)).map { GraphKey($0) ?? key.unknown })
        }
        return line(key, kind, numbers, members)
    }

    private static func line(
        _ key: GraphKey, _ kind: GraphKind, _ numbers: [Int], _ members: [(GraphRelationship, [GraphKey])]
    ) -> String {
        var text = "\(key) \(kind) \(numbers)"
        for (relationship, targets) in members where !targets.isEmpty {
            let targets = relationship.isToMany && !relationship.isOrdered ? targets.sorted() : targets
            text += " \(relationship)=\(targets.map { $0.store == key.store ? "\($0.rowID)" : "\($0)" }.joined(separator: ","))"
        }
        return text
    }

    /// The first lines that differ.
    func difference(from expected: GraphPicture) -> String {
        let mine = Set(lines)
        let theirs = Set(expected.lines)
        let found = lines.filter { !theirs.contains($0) }
        let missing = expected.lines.filter { !mine.contains($0) }
        return found.isEmpty && missing.isEmpty
            ? "lines are repeated or in another order: \(lines)" : "found \(found.prefix(6)), expected \(missing.prefix(6))"
    }
}

extension GraphKey {
    /// A key of no object.
    fileprivate var unknown: GraphKey { GraphKey(store: store, family: family, rowID: 0) }

    init?(_ object: any Model) {
        guard let kind = GraphKind(object) else { return nil }
        func key<T: Model>(_ object: T) -> GraphKey {
            let id = object.objectID
            return GraphKey(store: id.configuration == "B" ? 1 : 0, family: kind.family, rowID: id.graphRowID)
        }
        self = key(object)
    }
}

extension ObjectID {
    /// The row id.
    var graphRowID: Int64 { rowID }
}
