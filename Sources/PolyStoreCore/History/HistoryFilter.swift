public import Foundation
import PolyStoreBackend

/// Which entries of the history are wanted, and which of their changes. Conditions are added one after another, and all of them must hold:
///
///     try await stack.history(since: token, matching: .all.changes(of: Person.self).author("sync"))
///
/// With a condition on changes an entry contains only the changes that satisfy it, and an entry without any is left out.
public struct HistoryFilter: Sendable {
    private var entities: Set<String>?
    private var kinds: Set<HistoryChange.Kind>?
    private var objects: Set<AnyObjectID>?
    private var authors: Set<String?>?
    private var dates: Range<Date>?

    private init() {}

    /// Every entry.
    public static let all = HistoryFilter()

    /// Changes of objects of a class and of the classes below it. Several calls add up: changes of objects of any of the classes.
    public func changes<T: Model>(of type: T.Type) -> HistoryFilter {
        with { $0.entities = ($0.entities ?? []).union(Self.entityNames(of: type)) }
    }

    /// Changes of objects of an entity, by its stored name: also one that the schema no longer has.
    public func changes(ofEntityNamed name: String) -> HistoryFilter { with { $0.entities = ($0.entities ?? []).union([name]) } }

    /// Changes of some kinds.
    public func kinds(_ kinds: HistoryChange.Kind...) -> HistoryFilter { with { $0.kinds = Set(kinds) } }

    /// Changes of one object. Several calls add up.
    public func object<T: Model>(_ id: ObjectID<T>) -> HistoryFilter { with { $0.objects = ($0.objects ?? []).union([id.untyped]) } }

    /// Entries with an author; nil: entries without one. Several calls add up.
    public func author(_ name: String?) -> HistoryFilter { with { $0.authors = ($0.authors ?? []).union([name]) } }

    /// Entries that were committed within a range of dates.
    public func dates(_ range: Range<Date>) -> HistoryFilter { with { $0.dates = range } }

    private func with(_ change: (inout HistoryFilter) -> Void) -> HistoryFilter {
        var copy = self
        change(&copy)
        return copy
    }

    private var selectsChanges: Bool { entities != nil || kinds != nil || objects != nil }

    /// - Returns: false for an entry that is left out whatever its changes are.
    func accepts(author: String?, date: Date) -> Bool {
        if let authors, !authors.contains(author) { return false }
        return dates?.contains(date) ?? true
    }

    /// - Returns: the changes that satisfy the conditions; nil: the entry is left out.
    func selected(_ changes: [HistoryChange]) -> [HistoryChange]? {
        guard selectsChanges else { return changes }
        let found = changes.filter { change in
            if let kinds, !kinds.contains(change.kind) { return false }
            if let entities, !entities.contains(change.entityName) { return false }
            guard let objects else { return true }
            return change.objectID.map(objects.contains) ?? false
        }
        return found.isEmpty ? nil : found
    }

    /// The stored names of the entities that objects of a class can belong to.
    static func entityNames<T: Model>(of type: T.Type) -> Set<String> {
        guard let hierarchy = type._$hierarchy, let member = hierarchy.member(type) else { return [type._$entityName] }
        return Set(hierarchy.members[member.index..<member.end].map(\.name))
    }
}
