import PolyStoreBackend

/// Unique attributes of each type.
let uniqueTypeCases: [ConformanceCase] = edges.map { type, values in
    ConformanceCase(
        "uniqueness.\(type.rawValue).by-value",
        "Unique values of \(type.rawValue) are taken once, found, exchanged, released and reused; null is exempt."
    ) { run in
        let store = try run.open(Fixtures.thing(type, isUnique: true))
        let thing = try store.entity("Thing")
        let field = try store.field("Thing", "value")
        let values = type.physical == .real ? values + [.real(.nan)] : values
        try store.insert("Thing", values.map { [$0] } + [[.null], [.null]])
        let free = Int64(values.count + 3)
        func holder(_ value: Value) throws -> [Int64] {
            try store.ids(FetchRequest(thing, predicate: .compare(field, .equal, value)))
        }
        for (index, value) in values.enumerated() {
            let id = Int64(index + 1)
            try run.expect(try holder(value), equals: [id], "\(value)")
            let error = try run.expectError(.constraint, "\(value) again") {
                try store.change { try $0.insert(thing, rowID: free, [value]) }
            }
            try run.expect([error.entity, error.attribute], equals: ["Thing", "value"], "\(value)")
            try run.expectError(.constraint, "\(value) by an update") {
                try store.change { try $0.update(thing, rowID: Int64(values.count + 1), ["value": value]) }
            }
        }
        // Every value moves to the next object, in one change set.
        try store.change { changes in
            for index in values.indices {
                try changes.update(thing, rowID: Int64(index + 1), ["value": values[(index + 1) % values.count]])
            }
        }
        for (index, value) in values.enumerated() {
            try run.expect(try holder(value), equals: [Int64(index == 0 ? values.count : index)], "\(value) after moving on")
        }
        // A new object takes the value of an updated object, and another that of a deleted one.
        try store.change { changes in
            try changes.insert(thing, rowID: free, [values[1]])
            try changes.insert(thing, rowID: free + 1, [values[0]])
            try changes.update(thing, rowID: 1, ["value": .null])
            changes.delete(thing, rowID: Int64(values.count))
        }
        try run.expect(try holder(values[1]), equals: [free], "released and assigned")
        try run.expect(try holder(values[0]), equals: [free + 1], "deleted and assigned")
        if run.target.capabilities.contains(.verification) { try run.expect(try store.backend.verify(), equals: []) }
    }
}
