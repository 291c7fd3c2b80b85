import PolyStoreBackend
import PolyStoreConditions
import PolyStoreKernel
public import PolyStoreSearch

/// A fetch of objects without a class, by the name of their entity.
///
///     EntityQuery("Person").where("age > %d AND department.title == %@", 30, "Research").orderBy("name").limit(20)
///
/// Conditions, orders and paths are written as in format strings; see `docs/query-language.md`. The name can be that of a subentity of a hierarchy: its objects and those of its own
/// subentities are then found.
public struct EntityQuery: Sendable {
    /// The name of the entity or subentity.
    public let entity: String
    private var conditions: [@Sendable () -> Format] = []
    private var searches: [(search: Search, index: String)] = []
    private var order: [(path: String, isAscending: Bool, nulls: SortKey.NullPlacement, options: TextOptions)] = []
    /// The options of the fetch.
    public var options = FetchOptions()

    private struct Format {
        let text: String
        let arguments: [(any QueryArgument)?]
    }

    /// Creates a fetch of all objects of an entity.
    public init(_ entity: String) { self.entity = entity }

    /// Adds a condition in the syntax of format strings. Several are combined with AND.
    public func `where`(_ format: String, _ arguments: (any QueryArgument & Sendable)?...) -> EntityQuery {
        `where`(format, arguments: arguments)
    }

    /// Adds a condition whose arguments are in a list.
    public func `where`(_ format: String, arguments: [(any QueryArgument & Sendable)?]) -> EntityQuery {
        with { $0.conditions.append { Format(text: format, arguments: arguments.map { $0 }) } }
    }

    /// Appends a sort key: an attribute, a path such as `department.title`, or a calculation.
    public func orderBy(
        _ path: String, ascending: Bool = true, nulls: SortKey.NullPlacement = .smallest, options: TextOptions = []
    ) -> EntityQuery { with { $0.order.append((path, ascending, nulls, options)) } }

    /// Selects the objects that match a full-text search, best first: `EntityQuery("Note").search("lazy dog").limit(10)`.
    ///
    /// The order precedes those of ``orderBy(_:ascending:nulls:options:)``.
    /// - Parameters:
    ///   - text: What is searched for, as a user typed it.
    ///   - index: The name of the index; empty for the one without a name, or the only one.
    public func search(_ text: String, in index: String = "") -> EntityQuery { search(Search(text), in: index) }

    /// Selects the objects that match a full-text search, best first.
    public func search(_ search: Search, in index: String = "") -> EntityQuery { with { $0.searches.append((search, index)) } }

    /// Returns the first objects only.
    public func limit(_ count: Int) -> EntityQuery { with { $0.options.limit = count } }
    /// Leaves the first objects out.
    public func offset(_ count: Int) -> EntityQuery { with { $0.options.offset = count } }
    /// Limits the time of the fetch.
    public func timeLimit(_ limit: Duration) -> EntityQuery { with { $0.options.timeLimit = limit } }
    /// Reads the targets of relationships together with the objects.
    public func prefetch(_ paths: String...) -> EntityQuery { with { $0.options.prefetch += paths } }

    private func with(_ change: (inout EntityQuery) -> Void) -> EntityQuery {
        var copy = self
        change(&copy)
        return copy
    }

    /// Returns the fetch of the entity's class.
    package func chain<T: Model>(_ type: T.Type, _ entry: StoreEntity) -> FetchChain<T> {
        var chain = From<T>([entry.store.configurationName]).chain
        chain.options = options
        if let kind = entry.entity.classes.first(where: { $0.name == entity }), !kind.isRoot {
            chain = chain.where(Where("\(EntityHierarchy.classifier) IN %@", kind.concreteNames))
        }
        for condition in conditions {
            let format = condition()
            chain = chain.where(Where(format: format.text, arguments: format.arguments))
        }
        for (search, index) in searches {
            let comparison = Comparison(search, in: index)
            let best = OrderKey<T>(comparison.score, ascending: false, nulls: .smallest, options: [])
            chain = chain.where(Where(.comparison(comparison))).orderBy(best)
        }
        for (path, isAscending, nulls, options) in order {
            let key = Self.key(path, entry, isAscending, nulls, options) as OrderKey<T>
            chain = chain.orderBy(OrderBy([key]))
        }
        return chain
    }

    /// The functions over the objects of a group, which orders of groups name.
    private static let functions: Set<String> = [
        "count", "countdistinct", "sum", "average", "avg", "min", "minimum", "max", "maximum", "stddev", "standarddeviation", "median",
        "mode",
    ]

    /// Returns whether a text is the name of a property, or a path of such names.
    private static func isPath(_ text: Substring, _ entity: Entity, _ schema: ResolvedSchema) -> Bool {
        let first = String(text.prefix { $0 != "." })
        let rest = text.dropFirst(first.count + 1)
        guard first.count < text.count else { return entity.description.properties.contains { $0.name == first } }
        return entity.relationship(named: first).map { isPath(rest, schema.entities[$0.destination], schema) } ?? false
    }

    /// Returns a sort key: a path of names without quotes, a function over a group, or anything else that is a value in format strings.
    private static func key<T: Model>(
        _ text: String, _ entry: StoreEntity, _ isAscending: Bool, _ nulls: SortKey.NullPlacement, _ options: TextOptions
    ) -> OrderKey<T> {
        let isFunction = text.hasSuffix(")") && functions.contains(text.prefix { $0 != "(" }.lowercased())
        let isPlain = text.hasPrefix("@") || text.allSatisfy { $0.isLetter || $0.isNumber || "_.@".contains($0) }
        if isFunction || isPlain || isPath(text[...], entry.entity, entry.store.schema) {
            return isAscending
                ? .ascending(text, nulls: nulls, options: options) : .descending(text, nulls: nulls, options: options)
        }
        do {
            return OrderKey(try Operand(format: text), ascending: isAscending, nulls: nulls, options: options)
        } catch let error as StoreError { return OrderKey(refusing: error) } catch {
            return OrderKey(
                refusing: StoreError(.invalidPredicate, "\"\(text)\" cannot be ordered by: \(error)", entity: entry.entity.name))
        }
    }
}
