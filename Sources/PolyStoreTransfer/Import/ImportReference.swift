import PolyStoreBackend
import PolyStoreKernel

/// A reference to one object by its unique id, resolved at the end of the import.
///
///     func update(from source: CitySource, in transaction: Transaction) throws {
///         name = source.name
///         try transaction.reference(Into<Country>(), uniqueID: source.countryCode).assign(to: \.country, on: self)
///     }
///
/// The object may be in the store or be imported later in the same transaction. References are collected and looked up together, entity by entity,
/// at the end of each outermost import call; unresolved ones are looked up again before the commit.
public struct ImportReference<Target: ImportableUniqueObject> {
    let importer: UniqueImporter<Target>
    /// Retains the transaction.
    let transaction: Transaction
    /// The unique id; `nil` for an empty reference.
    let id: Target.UniqueIDType?
    let policy: MissingReference

    /// Sets a to-one relationship when the reference is resolved. An empty reference sets it to nil immediately.
    public func assign<Root: Model>(to path: ReferenceWritableKeyPath<Root, Target?>, on object: Root) throws {
        try resolve(ReferenceHolder(object, path, replacing: transaction.importing.nextAssignment(), isToMany: false)) {
            object[keyPath: path] = $0
        }
    }

    /// Adds the object to a to-many relationship when the reference is resolved. An empty reference adds nothing.
    public func insert<Root: Model>(into path: ReferenceWritableKeyPath<Root, Set<Target>>, on object: Root) throws {
        try resolve(ReferenceHolder(object, path, replacing: nil, isToMany: true)) { target in
            if let target { object[keyPath: path].insert(target) }
        }
    }

    /// Appends the object to an ordered to-many relationship when the reference is resolved. An empty reference appends nothing.
    ///
    /// References to different objects may be resolved in a different order than they were created; ``ImportReferences`` keep their order.
    public func append<Root: Model>(to path: ReferenceWritableKeyPath<Root, [Target]>, on object: Root) throws {
        try resolve(ReferenceHolder(object, path, replacing: nil, isToMany: true)) { target in
            if let target { object[keyPath: path].append(target) }
        }
    }

    /// Calls a closure with the object when the reference is resolved, or with nil for an empty or ignored reference.
    public func resolve(_ body: @escaping (Target?) throws -> Void) throws {
        try resolve(ReferenceHolder(), body)
    }

    func resolve(_ holder: ReferenceHolder, _ assign: @escaping (Target?) throws -> Void) throws {
        try transaction.checkMutable()
        let target = id.map { (key: importer.key(of: $0), id: $0) }
        try importer.references.add(.init(target: target, policy: policy, holder: holder, assign: assign), importer)
    }
}

/// References to several objects by their unique ids, resolved at the end of the import.
///
///     try transaction.references(Into<Country>(), uniqueIDs: source.neighbours).assign(to: \.neighbours, on: self)
public struct ImportReferences<Target: ImportableUniqueObject> {
    let importer: UniqueImporter<Target>
    let transaction: Transaction
    let references: [ImportReference<Target>]

    /// The first reference, or an empty one.
    var only: ImportReference<Target> {
        references.first ?? ImportReference(importer: importer, transaction: transaction, id: nil, policy: .ignore)
    }

    /// Replaces the objects of a to-many relationship when all references are resolved.
    public func assign<Root: Model>(to path: ReferenceWritableKeyPath<Root, Set<Target>>, on object: Root) throws {
        try collect(replacing(object, path)) { object[keyPath: path] = Set($0) }
    }

    /// Replaces the objects of an ordered to-many relationship when all references are resolved, in the order of the ids.
    public func assign<Root: Model>(to path: ReferenceWritableKeyPath<Root, [Target]>, on object: Root) throws {
        try collect(replacing(object, path)) { object[keyPath: path] = $0 }
    }

    /// Adds the objects to a to-many relationship as the references are resolved.
    public func insert<Root: Model>(into path: ReferenceWritableKeyPath<Root, Set<Target>>, on object: Root) throws {
        for reference in references { try reference.insert(into: path, on: object) }
    }

    /// Appends the objects to an ordered to-many relationship when all references are resolved, in the order of the ids.
    public func append<Root: Model>(to path: ReferenceWritableKeyPath<Root, [Target]>, on object: Root) throws {
        try collect(ReferenceHolder(object, path, replacing: nil, isToMany: true)) { object[keyPath: path] += $0 }
    }

    /// Replaces the targets of a relationship of an object without a class, when all references are resolved.
    /// - Parameters:
    ///   - relationship: The stored name.
    ///   - object: The object.
    ///   - set: Replaces the targets; receives one for each id, `nil` for an ignored one.
    package func assign(to relationship: Relationship, on object: any Model, _ set: @escaping ([Target?]) throws -> Void) throws {
        let holder = ReferenceHolder(
            object, .name(relationship.name), replacing: transaction.importing.nextAssignment(), isToMany: relationship.isToMany)
        guard !relationship.isToMany else { return try collectAll(holder, set) }
        try only.resolve(holder) { try set([$0]) }
    }

    /// Calls a closure with the objects when all references are resolved, in the order of the ids. Ignored references are omitted.
    public func resolve(_ body: @escaping ([Target]) throws -> Void) throws { try collect(ReferenceHolder(), body) }

    private func replacing<Root: Model>(_ object: Root, _ path: PartialKeyPath<Root>) -> ReferenceHolder {
        ReferenceHolder(object, path, replacing: transaction.importing.nextAssignment(), isToMany: true)
    }

    private func collect(_ holder: ReferenceHolder, _ assign: @escaping ([Target]) throws -> Void) throws {
        try collectAll(holder) { targets in
            var seen: Set<ObjectIdentifier> = []
            try assign(targets.compactMap { $0 }.filter { seen.insert(ObjectIdentifier($0)).inserted })
        }
    }

    /// Calls a closure with an object for each id.
    private func collectAll(_ holder: ReferenceHolder, _ assign: @escaping ([Target?]) throws -> Void) throws {
        guard !references.isEmpty else {
            // Replaces a pending assignment.
            let none = ImportReference(importer: importer, transaction: transaction, id: nil, policy: .ignore)
            return try none.resolve(holder) { _ in try assign([]) }
        }
        let collected = Collected(count: references.count)
        for (position, reference) in references.enumerated() {
            try reference.resolve(holder) { target in
                collected.targets[position] = target
                collected.left -= 1
                guard collected.left == 0 else { return }
                try assign(collected.targets)
            }
        }
    }

    private final class Collected {
        var targets: [Target?]
        var left: Int

        init(count: Int) {
            targets = Array(repeating: nil, count: count)
            left = count
        }
    }
}
