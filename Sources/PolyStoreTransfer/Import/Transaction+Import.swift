import PolyStoreBackend
import PolyStoreKernel

extension Transaction {
    /// The import state of this transaction.
    @usableFromInline
    final var importing: ImportState {
        if let state = buffer.imports as? ImportState { return state }
        let state = ImportState(self)
        buffer.imports = state
        return state
    }

    /// Inserts an object and reads its values from a source.
    ///
    ///     let visit = try transaction.importObject(Into<Visit>(), from: sources[0])
    ///
    /// A class with unique ids has ``importUniqueObject(_:from:)`` instead, which does not insert a second object with the same id.
    /// - Returns: The new object; `nil` if `shouldInsert(from:in:)` returned false.
    /// - Throws: Errors of the model's methods; `storeNotFound`, `ambiguousStore` as `create(_:)`.
    @discardableResult
    public func importObject<T: ImportableObject>(_ into: Into<T>, from source: T.ImportSource) throws -> T?
    where T.ImportKind == InsertingImport {
        try importObjects(into, from: CollectionOfOne(source)).first
    }

    /// Reads the values of an existing object from a source.
    /// - Returns: `false` if `shouldInsert(from:in:)` returned false; the object then stays unchanged.
    /// - Throws: Errors of the model's methods; `misuse` for an object of another context; `notFound` for a deleted one.
    @discardableResult
    public func importObject<T: ImportableObject>(_ object: T, from source: T.ImportSource) throws -> Bool {
        try checkImport(into: object)
        return try importing.call {
            guard try T.shouldInsert(from: source, in: self) else { return false }
            try object.didInsert(from: source, in: self)
            return true
        }
    }

    /// Inserts an object for each source and reads its values.
    ///
    /// A class with unique ids has ``importUniqueObjects(_:from:)`` instead, which does not insert a second object with the same id.
    /// - Returns: The new objects, in the order of the sources, without those for which `shouldInsert(from:in:)` returned false.
    /// - Throws: Errors of the model's methods. The objects imported before stay pending; to discard them, propagate the error out of the transaction.
    @discardableResult
    public func importObjects<T: ImportableObject, S: Sequence<T.ImportSource>>(_ into: Into<T>, from sources: S) throws -> [T]
    where T.ImportKind == InsertingImport {
        try checkMutable()
        let entry = try entry(for: into)
        return try importing.call {
            var imported: [T] = []
            imported.reserveCapacity(sources.underestimatedCount)
            for source in sources {
                guard try T.shouldInsert(from: source, in: self) else { continue }
                let object = try create(T.self, entry)
                try object.didInsert(from: source, in: self)
                imported.append(object)
            }
            return imported
        }
    }

    @available(
        *, unavailable,
        message: "it would insert a second object with the same unique id; use importUniqueObject(_:from:), which looks up the id"
    )
    @discardableResult
    public func importObject<T: ImportableUniqueObject>(_ into: Into<T>, from source: T.ImportSource) throws -> T? { fatalError() }

    @available(
        *, unavailable,
        message: "it would insert a second object with the same unique id; use importUniqueObjects(_:from:), which looks up the ids"
    )
    @discardableResult
    public func importObjects<T: ImportableUniqueObject, S: Sequence<T.ImportSource>>(_ into: Into<T>, from sources: S) throws -> [T] {
        fatalError()
    }

    private func checkImport(into object: some Model) throws {
        try checkMutable()
        guard owns(object) else {
            throw StoreError(
                .misuse, "The object to import into belongs to another context; call edit(_:) on the transaction first.",
                entity: type(of: object)._$entityName, rowID: object._$state.rowID)
        }
        guard !object.isDeleted else {
            throw StoreError(
                .notFound, "The object to import into was deleted.", entity: type(of: object)._$entityName, rowID: object._$state.rowID)
        }
    }

    /// Updates an existing object from a source. The unique id of the object does not change.
    /// - Returns: `false` if `shouldUpdate(from:in:)` returned false; the object then stays unchanged.
    /// - Throws: Errors of the model's methods; `misuse` for an object of another context; `notFound` for a deleted one.
    @discardableResult
    public func importObject<T: ImportableUniqueObject>(_ object: T, from source: T.ImportSource) throws -> Bool {
        try checkImport(into: object)
        return try importing.call {
            guard try T.shouldUpdate(from: source, in: self) else { return false }
            try object.update(from: source, in: self)
            return true
        }
    }
}
