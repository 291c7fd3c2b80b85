/// How rows become objects, and objects rows.
extension SchemaPlanner {
    private func rowKey(_ reference: Reference) -> RowKey {
        RowKey(
            entity: entityNames[reference.target],
            attribute: attributeNames[reference.target][reference.targetColumn] ?? reference.targetColumn,
            form: forms[reference.target][reference.targetColumn] ?? .literal,
            affinity: tables[reference.target].column(reference.targetColumn)?.affinity ?? .blob)
    }

    private func readingOrder(_ table: TableDefinition) -> String {
        table.isWithoutRowID ? table.key.map(quotedName).joined(separator: ", ") : "rowid"
    }

    func tablePlan(_ table: Int, position: Int, _ order: [Int]) -> TablePlan {
        let definition = tables[table]
        let columns = definition.columns.filter { !$0.isGenerated }.map { column -> (name: String, role: ColumnRole) in
            guard let reference = reference(table, column.name) else {
                return (column.name, .attribute(attributeNames[table][column.name] ?? column.name, forms[table][column.name] ?? .literal))
            }
            let isLate = order.firstIndex(of: reference.target).map { $0 >= position } ?? false
            return (column.name, .reference(reference.name, rowKey(reference), isLate: isLate))
        }
        let incoming = references.first { $0.target == table }
        let key = incoming.flatMap { incoming in columns.firstIndex { $0.name == incoming.targetColumn }.map { ($0, rowKey(incoming)) } }
        return TablePlan(table: definition.name, entity: entityNames[table], columns: columns, order: readingOrder(definition), key: key)
    }

    func linkPlan(_ link: Int) -> LinkPlan {
        let (first, second) = ends(of: link)
        return LinkPlan(
            table: tables[link].name, sourceColumn: first.column, targetColumn: second.column, source: rowKey(first),
            target: rowKey(second),
            relationship: linkNames[link]?.forward ?? "", order: quotedName(first.column))
    }
}
