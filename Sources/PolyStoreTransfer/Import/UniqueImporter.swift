import PolyStoreBackend
import PolyStoreKernel

/// The importer of objects of one class with a unique id into one store, for one transaction.
@usableFromInline
final class UniqueImporter<T: ImportableUniqueObject> {
    /// One import call: its ids, and the objects found or inserted for them.
    @usableFromInline
    final class Call {
        let index: ImportKeyIndex
        // No access overlaps another.
        @exclusivity(unchecked) @usableFromInline var objects: [T?]

        /// - Parameter index: The ids, in lookup order.
        @usableFromInline
        init(_ index: ImportKeyIndex) {
            self.index = index
            objects = Array(repeating: nil, count: index.count)
        }

        func object(_ key: ImportKey) -> T? { index.position(of: key).flatMap { objects[$0] } }
    }

    @usableFromInline unowned let transaction: Transaction
    @usableFromInline let entry: StoreEntity
    let access: UniqueIDAccess<T.UniqueIDType>
    /// A Boolean value that indicates whether the store prevents two objects with the same id.
    let isUnique: Bool
    /// The changes of unique ids since the outermost call began.
    @exclusivity(unchecked) @usableFromInline var changedIDs = ChangedUniqueIDs<T>()
    /// The calls that are running or have ended since the outermost call began.
    @exclusivity(unchecked) @usableFromInline private(set) var calls: [Call] = []
    let references = ReferenceQueue<T>()

    init(_ transaction: Transaction, _ entry: StoreEntity) throws {
        self.transaction = transaction
        self.entry = entry
        access = try T.uniqueIDKeyPath._$access()
        let fields = Set(access.fields.map(\.index))
        isUnique = entry.entity.indexes.contains { $0.isUnique && Set($0.fields) == fields }
        try checkIndex(fields)
    }

    /// - Throws: `misuse` if a lookup would require a full scan.
    private func checkIndex(_ wanted: Set<Int>) throws {
        let isServed = entry.entity.indexes.contains {
            !$0.readsJSON && wanted.count <= $0.fields.count && Set($0.fields.prefix(wanted.count)) == wanted
        }
        guard !isServed else { return }
        let names = access.fields.map(\.name)
        let name = T._$entityName
        let way =
            names.count == 1
            ? "Declare it `@Attribute(.unique) var \(names[0])`"
            : "Declare `#Unique<\(name)>(\(names.map { "\\.\($0)" }.joined(separator: ", ")))` in the class"
        throw StoreError(
            .misuse,
            "The unique id of \(name), \(names.joined(separator: " with ")), has no index, so that an import would read every object. \(way).",
            entity: name, attribute: names[0])
    }

    // MARK: Ids

    /// Returns a unique id in the form that stores compare.
    @inlinable
    func key(of id: T.UniqueIDType) -> ImportKey {
        if T.UniqueIDType.self == String.self, let text = id as? String { return .text(text) }
        return makeKey(of: id)
    }

    @usableFromInline
    func makeKey(of id: T.UniqueIDType) -> ImportKey { access.key(id) }

    // The key path is evaluated here, because the compiler replaces the application of a literal by a call of the setter.
    @inlinable @inline(__always)
    func assign(_ id: T.UniqueIDType, to object: T) {
        guard let path = T.uniqueIDKeyPath as? ReferenceWritableKeyPath<T, T.UniqueIDType> else { return assignParts(of: id, to: object) }
        object[keyPath: path] = id
    }

    @usableFromInline
    func assignParts(of id: T.UniqueIDType, to object: T) { access.assign(id, object) }

    // MARK: Import

    /// Imports sources with known, distinct ids, in order.
    /// - Returns: The inserted and updated objects, in the order of the sources.
    @inlinable
    func run(_ sources: UniqueSources<T>) throws -> [T] {
        let call = Call(sources.index)
        try begin(call)
        var imported: [T] = []
        // Constants, because a closure that captures the structure would copy it for each source.
        let (ids, sourceIndexes, all) = (sources.ids, sources.sourceIndexes, sources.all)
        imported.reserveCapacity(ids.count)
        for position in ids.indices {
            if let (object, _) = try importSource(all[sourceIndexes[position]], ids[position], call, position) { imported.append(object) }
        }
        return imported
    }

    /// Looks up the objects of a call and makes them available to references.
    @inlinable
    func begin(_ call: Call) throws {
        try fetch(call.lookUps(of: self)) { position, object in
            // If several objects have the same id, which is possible if the index is not unique, the one with the lowest row id is used.
            if call.objects[position] == nil { call.objects[position] = object }
        }
        add(call)
    }

    @usableFromInline
    func add(_ call: Call) { calls.append(call) }

    /// Updates the object at a position of a call, or inserts one.
    /// - Parameter id: Evaluated only if an object is inserted.
    /// - Returns: `nil` if the model skips the source.
    @inlinable
    func importSource(
        _ source: T.ImportSource, _ id: @autoclosure () -> T.UniqueIDType, _ call: Call, _ position: Int
    ) throws -> (object: T, isNew: Bool)? {
        let transaction = transaction
        if let object = try object(of: call, position) {
            guard try T.shouldUpdate(from: source, in: transaction) else { return nil }
            try object.update(from: source, in: transaction)
            didImport(object, call, position)
            return (object, false)
        }
        guard try T.shouldInsert(from: source, in: transaction) else { return nil }
        // `shouldInsert` may have imported the object.
        if let object = try object(of: call, position) {
            try object.update(from: source, in: transaction)
            didImport(object, call, position)
            return (object, false)
        }
        let object = try insert(id(), call, position)
        try object.didInsert(from: source, in: transaction)
        didImport(object, call, position)
        return (object, true)
    }

    /// Returns the object that has the id at a position of a call now.
    @inlinable
    func object(of call: Call, _ position: Int) throws -> T? {
        guard changedIDs.isEmpty else { return try lookUpAgain(call, position) }
        guard let object = call.objects[position], !object.isDeleted else { return nil }
        return object
    }

    @inlinable
    func insert(_ id: T.UniqueIDType, _ call: Call, _ position: Int) throws -> T {
        let object = try transaction.create(T.self, entry)
        assign(id, to: object)
        call.objects[position] = object
        if calls.count > 1 { share(object, key(of: id), except: call) }
        return object
    }

    /// Creates an object with only its unique id.
    func insertStub(_ id: T.UniqueIDType) throws -> T {
        let object = try transaction.create(T.self, entry)
        assign(id, to: object)
        object._$state.edit?.isRecorded = true
        share(object, key(of: id), except: nil)
        return object
    }

    /// Adds an object to the enclosing calls, which may be about to insert it too.
    @usableFromInline
    func share(_ object: T, _ key: ImportKey, except own: Call?) {
        for call in calls where call !== own {
            if let position = call.index.position(of: key) { call.objects[position] = object }
        }
    }

    // MARK: Look-up

    /// Returns the object that an import call of this transaction found or inserted for an id.
    func known(_ key: ImportKey) -> T? {
        for call in calls.reversed() {
            if let object = call.object(key), isObject(object, of: key) { return object }
        }
        return nil
    }

    /// Returns whether an object still has an id, which the program may have changed. The id is read first, because reading an object that must be refreshed
    /// detects whether another transaction has deleted it.
    func isObject(_ object: T, of key: ImportKey) -> Bool { access.read(object) == key && !object.isDeleted }

    /// The queries for objects by id, and the table that maps their rows to ids.
    @usableFromInline
    struct LookUps {
        let index: ImportKeyIndex
        @usableFromInline let requests: [FetchRequest]
    }

    func lookUps(_ index: ImportKeyIndex, _ keys: [ImportKey]) -> LookUps {
        let inClass = entry.hierarchy?.condition(T.self, includesSubentities: true)
        let requests = UniqueIDCondition.batches(keys).map { batch in
            let condition = UniqueIDCondition(access.fields, batch).predicate
            return FetchRequest(entry.entity, predicate: inClass.map { .and([$0, condition]) } ?? condition)
        }
        return LookUps(index: index, requests: requests)
    }

    /// Fetches objects by their ids, in ascending order of row ids.
    /// - Parameter found: Receives each object with the position of its id.
    @inlinable
    func fetch(_ lookUps: LookUps, _ found: (Int, T) -> Void) throws {
        for request in lookUps.requests {
            let cursor = try open(request, lookUps)
            defer { close(cursor) }
            var objects: [T] = []
            try transaction.collect(T.self, entry, entry.entityIndex, cursor, into: &objects)
            for (row, object) in objects.enumerated() where cursor.positions[row] >= 0 { found(cursor.positions[row], object) }
        }
    }

    @usableFromInline
    func open(_ request: FetchRequest, _ lookUps: LookUps) throws -> KeyedCursor {
        let began = transaction.startTiming()
        return KeyedCursor(
            try transaction.rows(entry, request, FetchOptions()), request, lookUps.index, access.fields, began: began)
    }

    @usableFromInline
    func close(_ cursor: KeyedCursor) {
        cursor.close()
        transaction.endTiming(cursor.began, "The look-up of an import", [(entry, cursor.request)])
    }
}

extension UniqueImporter.Call {
    /// Resolves ids from objects that other calls have found, and returns the queries for the remaining ids.
    @usableFromInline
    func lookUps(of importer: UniqueImporter<T>) -> UniqueImporter<T>.LookUps {
        guard !importer.calls.isEmpty else { return importer.lookUps(index, index.keys) }
        var wanted: [ImportKey] = []
        for (position, key) in index.keys.enumerated() {
            if let known = importer.known(key) { objects[position] = known } else { wanted.append(key) }
        }
        return importer.lookUps(index, wanted)
    }
}

extension UniqueImporter: ReferenceResolver {
    var entityIndex: Int32 { entry.entityIndex }
    func resolve(isFinal: Bool) throws -> Bool { try references.resolve(self, isFinal: isFinal) }
    func endReferences() throws -> [UnresolvedReference] { try references.end(T._$entityName) }
    func forgetCalls() {
        calls = []
        changedIDs = ChangedUniqueIDs()
    }

    /// Returns the ids in the calls that have an object and satisfy a condition.
    func importedKeys(where isWanted: (ImportKey) -> Bool) -> [ImportKey] {
        calls.flatMap { call in
            call.index.keys.enumerated().compactMap { call.objects[$0.offset] != nil && isWanted($0.element) ? $0.element : nil }
        }
    }
}
