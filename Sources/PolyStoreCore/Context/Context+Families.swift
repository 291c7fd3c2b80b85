import PolyStoreBackend

// Where an entity stands for a hierarchy of classes, its identity map holds objects of all of them: casts are checked, and the class of a new object is what its
// record says. Kept apart from the ways of entities that stand alone, which pay one look at a flag for each call.

extension Context {
    /// Makes objects of rows, as ``collect(_:_:_:_:into:most:)``; those that are not of the class asked for are left out.
    @usableFromInline
    final func collectRelatives<T: Model>(
        _ type: T.Type, _ entry: StoreEntity, _ cursor: RecordCursor, into found: inout [T], most: Int
    ) throws {
        let map = maps[Int(entry.slot)]
        while found.count < most, try cursor.next() {
            if let object = try relative(type, entry, map, cursor.id, cursor.record) { found.append(object) }
        }
    }

    /// The object of a row: the living one, or a new one of the class that the row names.
    /// - Returns: nil where that is not of the class asked for.
    @usableFromInline
    final func relative<T: Model>(
        _ type: T.Type, _ entry: StoreEntity, _ map: IdentityMap, _ key: Int64, _ record: RecordView
    ) throws -> T? {
        if let living = map.object(key) {
            guard let object = living as? T else { return nil }
            if object._$state.isFault { try fill(object, entry, key, record) }
            return object
        }
        do {
            guard let family = entry.family else { return nil }
            func open<K: Model>(_ type: K.Type) throws -> T? {
                let object = try K(_$state: ModelState(map, key: key), decoding: record)
                map.insert(key, object)
                return object as? T
            }
            let kind = try family.kind(record)
            return try open(kind.type)
        } catch {
            throw described(error, entry, key)
        }
    }

    /// The object of an id of a hierarchy. A fault only where the class has none below it: of any other the class has to be read first.
    /// - Returns: never nothing, as accessors cannot; an object that is not there, or is of another class, is one whose `isDeleted` is true.
    @usableFromInline
    final func relative<T: Model>(_ type: T.Type, _ map: IdentityMap, _ key: Int64) -> T {
        if let note = note(type, map, key) { return note }
        let entry = entry(map.slot)
        if map.object(key) == nil {
            if rowsAhead != nil, let object = ahead(type, map.slot, key) { return object }
            if entry.family?.kind(type)?.isLeaf ?? false {
                let object = T(_$state: ModelState(map, key: key, flags: .fault))
                map.insert(key, object)
                return object
            }
            do {
                if let record = try record(entry, key) {
                    if let object = try relative(type, entry, map, key, record) { return object }
                } else {
                    log(.warning, "\(entry.entity.name) \(key) was asked for, but is no longer in the store.")
                }
            } catch {
                let error = described(error, entry, key)
                core.logger.log(error, "Reading \(entry.entity.name) \(key) failed", file: site.file, line: site.line, function: site.kind)
            }
        }
        return missing(type, map.slot, key)
    }

    /// Whether objects can be here before they are read: not where only the record says of which class they are.
    final func mayBeFaults(_ type: any Model.Type, _ entry: StoreEntity) -> Bool { entry.family?.kind(type)?.isLeaf ?? true }

    /// What stands for an object that is not there. It is in a map of its own, so that it stands in nobody's way.
    final func missing<T: Model>(_ type: T.Type, _ slot: Int32, _ key: Int64) -> T {
        let strays = strays[slot] ?? newMap(slot, isPolymorphic: true)
        self.strays[slot] = strays
        return T(_$state: ModelState(strays, key: key, flags: [.missing, .deleted]))
    }

    /// Whether a slot holds objects of a class among others.
    @usableFromInline
    final func holds(_ type: any Model.Type, _ entry: StoreEntity) -> Bool { entry.family?.kind(type) != nil }

    /// - Throws: `corrupt` for a record of another class than the object's.
    final func checkKind(_ object: some Model, _ entry: StoreEntity, _ record: RecordView) throws {
        guard let family = entry.family else { return }
        let told = try family.kind(record).name
        let taken = family.kind(of: object).name
        guard told == taken else {
            throw StoreError(
                .corrupt, "It was taken for a \(taken), and the record says that it is a \(told).", attribute: "#\(family.classifier)")
        }
    }
}
