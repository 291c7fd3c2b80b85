import PolyStoreBackend

/// The context of a running case: stores in a scratch folder, and expectations.
public final class ConformanceRun: CaseExpectations, Sendable {
    let caseID: String
    let target: ConformanceTarget
    private let folder: ScratchFolder

    init(_ target: ConformanceTarget, _ caseID: String) throws {
        self.target = target
        self.caseID = caseID
        folder = try ScratchFolder()
    }

    /// Removes the data of the case with the target's teardown.
    func cleanUp() throws { try folder.cleanUp(target.teardown) }

    var folderPath: String { folder.path }

    func location(_ name: String = "store") -> ConformanceLocation { folder.location(name) }

    /// The location of a copy that is opened at the path of the same name.
    func copyLocation(_ name: String) throws -> String { try target.copyLocation(location(name)) }

    /// Lets the next commit of the open store fail.
    func failNextCommit(_ fault: CommitFault, _ name: String = "store") { target.failCommit?(location(name), fault) }

    /// Opens a store by name, and creates it if necessary.
    func open(
        _ schema: SchemaDescription, _ name: String = "store", configuration: String? = nil,
        _ adjust: (StoreConfiguration) -> StoreConfiguration = { $0 }
    ) throws -> TestStore {
        let resolved = try ResolvedSchema(schema)
        let store = adjust(target.store(location(name)))
        return TestStore(
            run: self, schema: resolved, backend: try store.open(schema: resolved, configurationName: configuration, logger: SilentLogger())
        )
    }
}

extension ChangeSet {
    /// Inserts an object with a value per field.
    func insert(_ entity: Entity, rowID: Int64, _ row: [Value]) throws {
        try insert(entity, rowID: rowID) { builder in for (field, value) in zip(entity.fields, row) { try builder.set(field, value) } }
    }

    /// Updates some fields of an object, by name.
    func update(_ entity: Entity, rowID: Int64, _ values: KeyValuePairs<String, Value>) throws {
        var mask = FieldMask()
        let pairs = try values.map { name, value in
            guard let field = entity.field(named: name) else {
                throw StoreError(.misuse, "\(entity.name) has no field \(name).")
            }
            return (field, value)
        }.sorted { $0.0.index < $1.0.index }
        for (field, _) in pairs { mask.insert(field.index) }
        try update(entity, rowID: rowID, mask: mask) { builder in for (field, value) in pairs { try builder.set(field, value) } }
    }
}

extension ReadTransaction {
    /// Returns all values of an object.
    func row(_ entity: Entity, _ id: Int64) throws -> [Value]? {
        guard let record = try record(entity, rowID: id) else { return nil }
        return entity.fields.map { record.value($0) }
    }

    /// Returns the ids that a request selects, in order.
    func ids(_ request: FetchRequest) throws -> [Int64] {
        let cursor = try fetch(request)
        defer { cursor.close() }
        var ids: [Int64] = []
        while try cursor.next() { ids.append(cursor.rowID) }
        return ids
    }

    /// Returns the rows that a request selects, in order.
    func rows(_ request: FetchRequest) throws -> [[Value]] {
        let cursor = try fetch(request)
        defer { cursor.close() }
        var rows: [[Value]] = []
        while try cursor.next() { rows.append(request.entity.fields.map { cursor.record.value($0) }) }
        return rows
    }
}

extension ConformanceTarget {
    /// Returns the features that a store of this backend claims, for comparison with those that the target declares.
    public func claimedFeatures() throws -> Set<Capabilities.Feature> { try claims().features }

    /// Returns whether a store keeps files at its path.
    func storesFiles() throws -> Bool {
        let run = try ConformanceRun(self, "claims")
        let found = Result { try run.keepsFilesAtItsPath() }
        try run.cleanUp()
        return try found.get()
    }

    func claims() throws -> Capabilities {
        let run = try ConformanceRun(self, "claims")
        let capabilities = Result { try run.open(Fixtures.company).backend.capabilities }
        try run.cleanUp()
        return try capabilities.get()
    }
}
