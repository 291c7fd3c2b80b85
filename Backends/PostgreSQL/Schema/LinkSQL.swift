import PolyStoreBackend

/// The names and SQL of a link table.
struct LinkSQL: Sendable {
    /// The name on the server.
    let plainName: String
    /// The quoted name with the schema.
    let name: String
    let creation: [String]
    private let table: LinkTable

    init(_ link: LinkTable, schema: String, names: inout SQLNameSpace) {
        table = link
        plainName = names.claim(link.name)
        name = "\(schema).\(SQLNames.quoted(plainName))"
        var columns = ["source bigint", "target bigint"]
        if link.ordersTargets { columns.append("\"targetPosition\" bigint NOT NULL") }
        if link.ordersSources { columns.append("\"sourcePosition\" bigint NOT NULL") }
        let key = SQLNames.quoted(names.claim(plainName + "_key"))
        var creation = ["CREATE TABLE \(name) (\(columns.joined(separator: ", ")), CONSTRAINT \(key) PRIMARY KEY (source, target))"]
        if !link.isSymmetric {
            let fields = link.ordersSources ? "target, \"sourcePosition\", source" : "target, source"
            creation.append("CREATE INDEX \(SQLNames.quoted(names.claim(plainName + "_inverse"))) ON \(name) (\(fields))")
        }
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
