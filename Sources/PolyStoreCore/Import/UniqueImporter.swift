import PolyStoreBackend

/// Imports the objects of one class with a unique id into one store, for one transaction.
final class UniqueImporter<T: ImportableUniqueObject> {
    /// One import call: its ids and the objects that belong to them so far.
    final class Call {
        let index: [ImportKey: Int]
        /// The ids, each once.
        let keys: [ImportKey]
        var objects: [T?]

        /// - Parameters:
        ///   - index: the positions of the ids, from 0.
        ///   - keys: the ids, in the order in which they are looked up.
        init(_ index: [ImportKey: Int], keys: [ImportKey]? = nil) {
            self.index = index
            self.keys = keys ?? Array(index.keys)
            objects = Array(repeating: nil, count: index.count)
        }

        func object(_ key: ImportKey) -> T? { index[key].flatMap { objects[$0] } }
    }

    unowned let transaction: Transaction
    let entry: StoreEntity
    let access: UniqueIDAccess<T.UniqueIDType>
    /// The calls that are running or have ended since the outermost began.
    private var calls: [Call] = []
    let references = ReferenceQueue<T>()
    /// Whether the store allows one object for each id.
    private let isUnique: Bool

    init(_ transaction: Transaction, _ entry: StoreEntity) throws {
        self.transaction = transaction
        self.entry = entry
        access = try T.uniqueIDKeyPath._$access()
        let fields = Set(access.fields.map(\.ordinal))
        isUnique = entry.entity.indexes.contains { $0.isUnique && Set($0.fields) == fields }
        try checkIndex(fields)
    }

    /// - Throws: `misuse` where every look-up would read the whole store.
    private func checkIndex(_ wanted: Set<Int>) throws {
        let isServed = entry.entity.indexes.contains { wanted.count <= $0.fields.count && Set($0.fields.prefix(wanted.count)) == wanted }
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

    // MARK: Import

    /// Imports sources whose ids are known, each id once, in their order.
    /// - Returns: the objects that were inserted or updated, in the order of the sources.
    func run(_ sources: UniqueSources<T>) throws -> [T] {
        let call = Call(sources.index, keys: sources.keys)
        try begin(call)
        var imported: [T] = []
        imported.reserveCapacity(sources.count)
        for position in 0..<sources.count {
            if let (object, _) = try importSource(sources.source(position), sources.ids[position], call, position) {
                imported.append(object)
            }
        }
        return imported
    }

    /// Looks up the objects of a call, which are known to references from then on.
    func begin(_ call: Call) throws {
        try find(call)
        calls.append(call)
    }

    /// Updates the object at a position of a call, or inserts one.
    /// - Parameter id: asked for only where an object is inserted.
    /// - Returns: nil where the model leaves the source out.
    func importSource(
        _ source: T.ImportSource, _ id: @autoclosure () -> T.UniqueIDType, _ call: Call, _ position: Int
    ) throws -> (object: T, isNew: Bool)? {
        if let object = call.objects[position], !object.isDeleted {
            guard try T.shouldUpdate(from: source, in: transaction) else { return nil }
            try object.update(from: source, in: transaction)
            return (object, false)
        }
        guard try T.shouldInsert(from: source, in: transaction) else { return nil }
        // The program may have imported it in `shouldInsert`.
        if let object = call.objects[position], !object.isDeleted {
            try object.update(from: source, in: transaction)
            return (object, false)
        }
        let object = try insert(id(), call, position)
        try object.didInsert(from: source, in: transaction)
        return (object, true)
    }

    private func insert(_ id: T.UniqueIDType, _ call: Call, _ position: Int) throws -> T {
        let object = try transaction.create(T.self, entry)
        access.assign(id, object)
        call.objects[position] = object
        if calls.count > 1 { share(object, access.key(id), except: call) }
        return object
    }

    /// Creates an object that has its unique id and nothing else.
    func insertStub(_ id: T.UniqueIDType) throws -> T {
        let object = try transaction.create(T.self, entry)
        access.assign(id, object)
        share(object, access.key(id), except: nil)
        return object
    }

    /// Calls around this one may be about to insert the same object.
    private func share(_ object: T, _ key: ImportKey, except own: Call?) {
        for call in calls where call !== own {
            if let position = call.index[key] { call.objects[position] = object }
        }
    }

    // MARK: Look-up

    /// Finds the objects of a call's ids: those of other calls, and all others together.
    private func find(_ call: Call) throws {
        var wanted = call.keys
        if !calls.isEmpty {
            wanted = wanted.filter { key in
                guard let known = known(key), let position = call.index[key] else { return true }
                call.objects[position] = known
                return false
            }
        }
        try fetch(wanted) { key, object in if let position = call.index[key] { call.objects[position] = object } }
    }

    /// Returns the object of an id that an import call of this transaction has found or inserted.
    func known(_ key: ImportKey) -> T? {
        for call in calls.reversed() {
            if let object = call.object(key), isObject(object, of: key) { return object }
        }
        return nil
    }

    /// Returns whether an object still has an id, which the program may have changed. The id is read first: of an object that has to be read again that tells
    /// whether another transaction has deleted it.
    func isObject(_ object: T, of key: ImportKey) -> Bool { access.read(object) == key && !object.isDeleted }

    /// Fetches the objects of some ids. Where several have one id, which only an index that is not unique allows, the one with the least object id counts.
    func fetch(_ keys: [ImportKey], _ found: (ImportKey, T) -> Void) throws {
        guard !keys.isEmpty else { return }
        var seen: Set<ImportKey> = []
        var chain = FetchChain(From<T>(entry.store.configurationName))
        for batch in UniqueIDCondition.batches(keys) {
            chain.condition = Where(UniqueIDCondition(access.fields, batch).predicate)
            for object in try transaction.fetchAll(chain) {
                guard let key = access.read(object), isUnique || seen.insert(key).inserted else { continue }
                found(key, object)
            }
        }
    }
}

extension UniqueImporter: ReferenceResolver {
    func resolve(isFinal: Bool) throws -> Bool { try references.resolve(self, isFinal: isFinal) }
    func endReferences() throws -> [UnresolvedReference] { try references.end(T._$entityName) }
    func forgetCalls() { calls = [] }

    /// Returns those ids of the calls that have an object and that a condition holds for.
    func importedKeys(where isWanted: (ImportKey) -> Bool) -> [ImportKey] {
        calls.flatMap { call in call.index.compactMap { call.objects[$1] != nil && isWanted($0) ? $0 : nil } }
    }
}
