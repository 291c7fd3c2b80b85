import PolyStoreBackend

/// The objects of a fetch, loaded in batches on access. The collection stores only row ids.
///
/// It belongs to its context, like the objects, and must not outlive it. Its row ids are those at the time of the fetch.
///
/// - Important: An object deleted in the meantime remains in the collection, with `isDeleted` set to true.
public struct FetchedArray<T: Model>: RandomAccessCollection {
    private let context: Context
    private let entityIndex: Int32
    private let rowIDs: [Int64]
    private let batchSize: Int
    private let loaded = Loaded()

    /// The recently loaded batches. Shared by copies of the collection.
    private final class Loaded {
        /// The batches by number, the most recently used last.
        var batches: [(number: Int, objects: [T])] = []
        /// The maximum number of cached batches. Two, so that iterating back and forth across a batch boundary does not reload them.
        static var most: Int { 2 }
    }

    init(_ context: Context, _ entityIndex: Int32, _ rowIDs: [Int64], batchSize: Int) {
        self.context = context
        self.entityIndex = entityIndex
        self.rowIDs = rowIDs
        self.batchSize = batchSize
    }

    /// The position of the first object, 0.
    public var startIndex: Int { 0 }
    /// The number of objects.
    public var endIndex: Int { rowIDs.count }

    /// The object at a position. An accessor cannot throw, so a read error is logged and the object is a fault.
    public subscript(position: Int) -> T {
        precondition(rowIDs.indices.contains(position), "There is no object \(position) among \(rowIDs.count).")
        let number = position / batchSize
        let objects = batch(number)
        return objects[position - number * batchSize]
    }

    /// The ids of the objects, without reading any object.
    public var objectIDs: [ObjectID<T>] { rowIDs.map { ObjectID(entry: context.entry(entityIndex), rowID: $0) } }

    private func batch(_ number: Int) -> [T] {
        if let index = loaded.batches.lastIndex(where: { $0.number == number }) {
            if index < loaded.batches.count - 1 { loaded.batches.append(loaded.batches.remove(at: index)) }
            return loaded.batches[loaded.batches.count - 1].objects
        }
        context.beginReading()
        defer { context.endReading() }
        let rowIDs = Array(self.rowIDs[number * batchSize..<Swift.min((number + 1) * batchSize, self.rowIDs.count)])
        var objects: [T] = []
        do {
            objects = try context.objects(T.self, entityIndex, rowIDs)
            // Only missing objects are still faults; this marks them as deleted.
            for object in objects where object._$state.isFault { try context.look(up: object, context.entry(entityIndex)) }
        } catch {
            context.core.logger.log(
                context.described(error, context.entry(entityIndex), rowIDs[0]),
                "Reading a batch of \(context.entry(entityIndex).entity.name) failed",
                file: context.site.file, line: context.site.line, function: context.site.kind)
            objects = rowIDs.map { context.object(T.self, entityIndex, $0) }
        }
        loaded.batches.append((number, objects))
        if loaded.batches.count > Loaded.most { loaded.batches.removeFirst() }
        return objects
    }
}

extension Context {
    /// Returns all matching objects of one store as a collection that loads them in batches on access.
    ///
    ///     let people = try context.fetchLazily(From<Person>().orderBy(.ascending(\.name)), batchSize: 50)
    ///     print(people[4711].name)      // reads 50 of them
    ///
    /// - Throws: `misuse` for a batch size below 1, and if several stores contain the entity: name a configuration in `From`.
    public func fetchLazily<S: FetchSource>(_ source: S, batchSize: Int = 100) throws -> FetchedArray<S.Entity> {
        try checkBatch(batchSize, S.Entity.self)
        beginReading()
        defer { endReading() }
        let fetch = try resolve(source.chain)
        guard let part = fetch.parts.first, !fetch.isMerged else {
            throw StoreError(
                .misuse, "\(S.Entity._$entityName) is in several stores, and a lazy list is of one: name its configuration in From.",
                entity: S.Entity._$entityName)
        }
        let rowIDs = try limited(fetch.options) {
            let cursor = try openIDs(part)
            defer { cursor.close() }
            var rowIDs: [Int64] = []
            while try cursor.next() { rowIDs.append(cursor.rowID) }
            return rowIDs
        }
        return FetchedArray(self, part.entityIndex, rowIDs, batchSize: batchSize)
    }
}
