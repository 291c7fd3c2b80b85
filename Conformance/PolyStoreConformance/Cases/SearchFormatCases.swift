import PolyStoreBackend

/// The format of a store with full-text indexes, which releases that would not maintain them refuse.
let searchFormatCases: [ConformanceCase] = [
    ConformanceCase(
        "search.format.refuses-earlier-releases",
        "A store with a full-text index has a format that a release without such indexes refuses, and the former one after its last index is gone.",
        requires: [.searchIndexes, .migration, .persistence]
    ) { run in
        let plain = try format(run, [])
        for (number, indexes) in [Notes.indexes, [Notes.indexes[2]]].enumerated() {
            let searched = try format(run, indexes)
            guard searched > plain else {
                throw run.fail("the format is \(searched) with a full-text index and \(plain) without one, opening \(number)")
            }
            try run.expect(try format(run, indexes), equals: searched, "opened again, opening \(number)")
            try refuses(run, indexes, supported: plain)
        }
        // The pages of an index may be removed in the background.
        let end = ContinuousClock.now + .seconds(120)
        while try format(run, []) > plain {
            guard ContinuousClock.now < end else { throw run.fail("the format is still raised two minutes after the index was dropped") }
        }
        try refuses(run, [], supported: plain)
    },
    ConformanceCase(
        "search.format.of-a-new-store", "A store that is created with a full-text index has its format from the beginning.",
        requires: [.searchIndexes, .persistence]
    ) { run in
        let created = try run.open(schema(Notes.indexes), "searched")
        let format = created.backend.metadata.format
        try created.backend.close()
        let plain = try run.open(schema([]), "plain")
        guard format > plain.backend.metadata.format else { throw run.fail("the format is \(format), as without full-text indexes") }
        let again = try run.open(schema(Notes.indexes), "searched")
        try run.expect(again.backend.metadata.format, equals: format, "opened again")
    },
]

/// Returns the format of the store after an opening, which may change its indexes.
private func format(_ run: ConformanceRun, _ indexes: [SearchIndexDescription]) throws -> Int {
    try run.open(schema(indexes)).backend.close()
    // The metadata of an open store are those that the opening found.
    let store = try run.open(schema(indexes))
    defer { try? store.backend.close() }
    return store.backend.metadata.format
}

/// Checks whether a release that reads formats up to a number opens the store as it is.
private func refuses(_ run: ConformanceRun, _ indexes: [SearchIndexDescription], supported: Int) throws {
    let store = try run.open(schema(indexes))
    defer { try? store.backend.close() }
    let metadata = store.backend.metadata
    let check = { try metadata.check(OpenRequest(schema: store.schema), supportedFormat: supported, location: "store") }
    guard !indexes.isEmpty else { return try check() }
    do { try check() } catch let error as StoreError where error.code == .incompatibleSchema {
        let wording = "has format \(metadata.format), and this version reads up to \(supported). Update the library."
        guard error.message.contains(wording) else { throw run.fail("the error does not name the formats and the way out: \(error)") }
        return
    }
    throw run.fail("a release that reads formats up to \(supported) does not refuse the store")
}

/// Notes with full-text indexes and no others in the model.
private func schema(_ indexes: [SearchIndexDescription]) -> SchemaDescription {
    var schema = Notes.schema(indexes)
    for position in schema.entities.indices where schema.entities[position].name != "Note" { schema.entities[position].searchIndexes = [] }
    return schema
}
