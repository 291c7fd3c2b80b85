import PolyStoreAttributes
import PolyStoreBackend

// The identity map of a class hierarchy contains objects of all of its classes: casts are checked, and the record determines the class of a new
// object. This code is separate from that of single classes, which only pay for testing a flag.

extension Context {
    /// Creates objects from rows like ``collect(_:_:_:_:into:most:)``, omitting those that are not of the requested class.
    @usableFromInline
    final func collectRelatives<T: Model>(
        _ type: T.Type, _ entry: StoreEntity, _ cursor: RecordCursor, into found: inout [T], most: Int
    ) throws {
        let map = identityMap(entry.entityIndex)
        while found.count < most, try cursor.next() {
            if let object = try relative(type, entry, map, cursor.rowID, cursor.record) { found.append(object) }
        }
    }

    /// Returns the registered object of a row, or creates one of the class that the row names.
    /// - Returns: nil if it is not of the requested class.
    @usableFromInline
    final func relative<T: Model>(
        _ type: T.Type, _ entry: StoreEntity, _ map: IdentityMap, _ rowID: Int64, _ record: RecordView
    ) throws -> T? {
        if let registered = map.object(rowID) {
            guard let object = registered as? T else { return nil }
            if object._$state.isFault { try fill(object, entry, rowID, record) }
            return object
        }
        do {
            guard let hierarchy = entry.hierarchy else { return nil }
            func open<K: Model>(_ type: K.Type) throws -> T? {
                let object = try K(_$state: ModelState(map, rowID: rowID), decoding: record)
                map.insert(rowID, object)
                return object as? T
            }
            return try open(try hierarchy.type(record))
        } catch {
            throw described(error, entry, rowID)
        }
    }

    /// Returns the object of a class hierarchy with a row id. It can only be a fault if the class has no subclasses; otherwise it must be read to
    /// determine its class.
    /// - Returns: an object in any case, because accessors cannot throw. If it does not exist or is of another class, its `isDeleted` is true.
    @usableFromInline
    final func relative<T: Model>(_ type: T.Type, _ map: IdentityMap, _ rowID: Int64) -> T {
        if let supplied = suppliedObject(type, map, rowID) { return supplied }
        let entry = entry(map.entityIndex)
        if map.object(rowID) == nil {
            if graph.rowsAhead != nil, let object = ahead(type, map.entityIndex, rowID) { return object }
            if entry.hierarchy?.entityClass(type)?.isLeaf ?? false {
                let object = T(_$state: ModelState(map, rowID: rowID, flags: .fault))
                map.insert(rowID, object)
                return object
            }
            beginReading()
            defer { endReading() }
            do {
                if let record = try record(entry, rowID) {
                    if let object = try relative(type, entry, map, rowID, record) { return object }
                } else {
                    log(.warning, "\(entry.entity.name) \(rowID) was asked for, but is no longer in the store.")
                }
            } catch {
                let error = described(error, entry, rowID)
                core.logger.log(
                    error, "Reading \(entry.entity.name) \(rowID) failed", file: site.file, line: site.line, function: site.kind)
            }
        }
        return missing(type, map.entityIndex, rowID)
    }

    /// Returns whether objects of a class can be faults: not if only the record determines their class.
    final func mayBeFaults(_ type: any Model.Type, _ entry: StoreEntity) -> Bool { entry.hierarchy?.entityClass(type)?.isLeaf ?? true }

    /// Returns a substitute for a missing object. It is registered in a separate map, so that it does not conflict with other objects.
    package final func missing<T: Model>(_ type: T.Type, _ entityIndex: Int32, _ rowID: Int64) -> T {
        T(_$state: ModelState(graph.substitutes(of: entityIndex, in: self), rowID: rowID, flags: [.missing, .deleted]))
    }

    /// Returns whether the entity contains objects of a class.
    @usableFromInline
    final func holds(_ type: any Model.Type, _ entry: StoreEntity) -> Bool { entry.hierarchy?.entityClass(type) != nil }

    /// Checks that a record is of the class of an object.
    /// - Throws: `corrupt` if it is of another class.
    final func checkKind(_ object: some Model, _ entry: StoreEntity, _ record: RecordView) throws {
        guard let hierarchy = entry.hierarchy else { return }
        let recordClass = try hierarchy.entityClass(record).name
        let taken = hierarchy.entityClass(of: object).name
        guard recordClass == taken else {
            throw StoreError(undecodable: hierarchy.classifier, "The object is a \(recordClass), not a \(taken).")
        }
    }
}
