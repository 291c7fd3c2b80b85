public import Foundation
import PolyStoreBackend
import PolyStoreKernel

/// A filter for entries of the history and for their changes. Conditions are combined with AND:
///
///     try await stack.history(since: token, matching: .all.changes(of: Person.self).author("sync"))
///
/// With a condition on changes, an entry contains only the matching changes, and an entry without any is excluded.
public struct HistoryFilter: Sendable, Hashable {
    private var entities: Set<String>?
    private var kinds: Set<HistoryChange.Kind>?
    private var objects: Set<AnyObjectID>?
    private var authors: Set<String?>?
    private var dates: Range<Date>?

    private init() {}

    /// A filter that accepts every entry.
    public static let all = HistoryFilter()

    /// Selects changes of objects of a class and its subclasses. Several calls are combined with OR.
    public func changes<T: Model>(of type: T.Type) -> HistoryFilter {
        with { $0.entities = ($0.entities ?? []).union(Self.entityNames(of: type)) }
    }

    /// Selects changes of objects of an entity by its stored name, which may be absent from the schema.
    public func changes(ofEntityNamed name: String) -> HistoryFilter { with { $0.entities = ($0.entities ?? []).union([name]) } }

    /// Selects changes of the given kinds.
    public func kinds(_ kinds: HistoryChange.Kind...) -> HistoryFilter { with { $0.kinds = Set(kinds) } }

    /// Selects changes of one object. Several calls are combined with OR.
    public func object<T: Model>(_ id: ObjectID<T>) -> HistoryFilter { with { $0.objects = ($0.objects ?? []).union([id.untyped]) } }

    /// Selects changes of one object that has no class. Several calls are combined with OR.
    public func object(_ id: AnyObjectID) -> HistoryFilter { with { $0.objects = ($0.objects ?? []).union([id]) } }

    /// Selects entries by an author; `nil` selects entries without an author. Several calls are combined with OR.
    public func author(_ name: String?) -> HistoryFilter { with { $0.authors = ($0.authors ?? []).union([name]) } }

    /// Selects entries that were committed within a range of dates.
    public func dates(_ range: Range<Date>) -> HistoryFilter { with { $0.dates = range } }

    private func with(_ change: (inout HistoryFilter) -> Void) -> HistoryFilter {
        var copy = self
        change(&copy)
        return copy
    }

    private var selectsChanges: Bool { entities != nil || kinds != nil || objects != nil }

    /// - Returns: `false` for an entry that is excluded regardless of its changes.
    func accepts(author: String?, date: Date) -> Bool {
        if let authors, !authors.contains(author) { return false }
        return dates?.contains(date) ?? true
    }

    /// - Returns: The changes that satisfy the conditions; `nil` if the entry is excluded.
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

    /// Returns the stored names of the entities of a class and its subclasses.
    static func entityNames<T: Model>(of type: T.Type) -> Set<String> {
        guard let hierarchy = type._$hierarchy, let member = hierarchy.entityClass(type) else { return [type._$entityName] }
        return Set(hierarchy.classes[member.descendants].map(\.name))
    }
}
