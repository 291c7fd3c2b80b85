import PolyStoreBackend

/// The names and SQL of a link table.
struct LinkSQL: Sendable {
    /// The name on the server.
    let plainName: String
    /// The quoted name with the schema.
    let name: String
    let creation: [String]
    private let table: LinkTable

    /// The names of the primary key and of the index by target, if there is one.
    let indexNames: [String]

    init(_ link: LinkTable, called wanted: String, schema: String, names: inout SQLNameSpace) {
        table = link
        plainName = names.claim(wanted)
        name = "\(schema).\(SQLNames.quoted(plainName))"
        var columns = ["source bigint", "target bigint"]
        if link.ordersTargets { columns.append("\"targetPosition\" bigint NOT NULL") }
        if link.ordersSources { columns.append("\"sourcePosition\" bigint NOT NULL") }
        var indexNames = [names.claim(plainName + "_key")]
        let key = SQLNames.quoted(indexNames[0])
        var creation = ["CREATE TABLE \(name) (\(columns.joined(separator: ", ")), CONSTRAINT \(key) PRIMARY KEY (source, target))"]
        if !link.isSymmetric {
            let fields = link.ordersSources ? "target, \"sourcePosition\", source" : "target, source"
            let inverse = names.claim(plainName + "_inverse")
            indexNames.append(inverse)
            creation.append("CREATE INDEX \(SQLNames.quoted(inverse)) ON \(name) (\(fields))")
        }
        self.indexNames = indexNames
        self.creation = creation
    }

    /// The quoted position columns.
    var positions: [String] {
        (table.ordersTargets ? ["\"targetPosition\""] : []) + (table.ordersSources ? ["\"sourcePosition\""] : [])
    }

    /// Returns the positions of a change, in the order of ``positions``.
    func positions(of change: ChangeSet.LinkChange) -> [Int64?] {
        (table.ordersTargets ? [change.targetPosition] : []) + (table.ordersSources ? [change.sourcePosition] : [])
    }
}
