import PolyStoreBackend

/// The names and SQL of a link table.
struct LinkSQL: Sendable {
    /// The quoted name.
    let name: String
    let plainName: String
    let creation: [String]
    /// The name of the index by target; `nil` for a symmetric table, which has none.
    let inverseName: String?
    /// ``LinkTable/index``.
    var index: Int { table.index }
    private let table: LinkTable

    init(_ link: LinkTable, names: inout SQLNameSpace) {
        table = link
        plainName = names.claim(link.name)
        name = SQLNames.quoted(plainName)
        var columns = ["source INTEGER", "target INTEGER"]
        if link.ordersTargets { columns.append("targetPosition INTEGER NOT NULL") }
        if link.ordersSources { columns.append("sourcePosition INTEGER NOT NULL") }
        var creation = ["CREATE TABLE \(name) (\(columns.joined(separator: ", ")), PRIMARY KEY (source, target)) WITHOUT ROWID"]
        inverseName = link.isSymmetric ? nil : names.claim(plainName + "_inverse")
        if let inverseName {
            let fields = link.ordersSources ? "target, sourcePosition, source" : "target, source"
            creation.append("CREATE INDEX \(SQLNames.quoted(inverseName)) ON \(name) (\(fields))")
        }
        self.creation = creation
    }

    /// The position columns, in the order in which ``addSQL`` binds them after source and target.
    var positions: [String] { (table.ordersTargets ? ["targetPosition"] : []) + (table.ordersSources ? ["sourcePosition"] : []) }

    /// Inserts a pair. A null position keeps that of an existing pair and is 0 for a new one.
    var addSQL: String {
        guard !positions.isEmpty else { return "INSERT OR IGNORE INTO \(name) (source, target) VALUES (?, ?)" }
        let values = positions.indices.map { "coalesce(?\($0 + 3), 0)" }
        let moved = positions.enumerated().map { "\($0.element) = coalesce(?\($0.offset + 3), \($0.element))" }
        return
            "INSERT INTO \(name) (source, target, \(positions.joined(separator: ", "))) VALUES (?1, ?2, \(values.joined(separator: ", "))) "
            + "ON CONFLICT (source, target) DO UPDATE SET \(moved.joined(separator: ", "))"
    }
    var removeSQL: String { "DELETE FROM \(name) WHERE source = ? AND target = ?" }

    /// - Parameter ordered: Whether to sort by position, which is then the second column.
    func targetsSQL(reversed: Bool, ordered: Bool) -> String {
        let (here, there) = reversed ? ("target", "source") : ("source", "target")
        guard ordered else { return "SELECT \(there) FROM \(name) WHERE \(here) = ? ORDER BY \(there)" }
        return "SELECT \(there), \(there)Position FROM \(name) WHERE \(here) = ? ORDER BY \(there)Position, \(there)"
    }
}
