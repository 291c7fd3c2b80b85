/// How rows become objects, and objects rows.
extension SchemaPlanner {
    private func rowKey(_ reference: Reference) -> RowKey {
        RowKey(
            entity: entityNames[reference.target],
            attribute: attributeNames[reference.target][reference.targetColumn] ?? "",
            form: forms[reference.target][reference.targetColumn])
    }

    /// Returns the column by which the rows of a table are found again: a unique attribute without NULL, of the primary key before others.
    func ownKey(_ table: Int) -> Int? {
        let definition = tables[table]
        let found = definition.columns.indices.filter { column in
            let declared = definition.columns[column]
            return !declared.isGenerated && declared.isCollationKnown && definition.isUnique([declared.name])
                && !nulls[table].contains(column) && reference(table, column) == nil
        }
        return found.first { definition.columns[$0].keyPosition > 0 } ?? found.first
    }

    private func readingOrder(_ table: TableDefinition) -> String {
        table.isWithoutRowID ? table.key.map(quotedName).joined(separator: ", ") : "rowid"
    }

    func tablePlan(_ table: Int, position: Int, _ order: [Int]) -> TablePlan {
        let definition = tables[table]
        let own = definition.columns.indices.filter { !definition.columns[$0].isGenerated }
        let columns = own.map { column -> (name: String, role: ColumnRole) in
            let name = definition.columns[column].name
            guard let reference = reference(table, column) else {
                return (name, .attribute(attributeNames[table][column] ?? "", forms[table][column]))
            }
            let isLate = order.firstIndex(of: reference.target).map { $0 >= position } ?? false
            return (name, .reference(reference.name, rowKey(reference), isLate: isLate))
        }
        let key = ownKey(table).flatMap { column in
            own.firstIndex(of: column).map {
                ($0, RowKey(entity: entityNames[table], attribute: attributeNames[table][column] ?? "", form: forms[table][column]))
            }
        }
        return TablePlan(table: definition.name, entity: entityNames[table], columns: columns, order: readingOrder(definition), key: key)
    }

    func linkPlan(_ link: Int) -> LinkPlan {
        let (first, second) = ends(of: link)
        return LinkPlan(
            table: tables[link].name, sourceColumn: name(of: first), targetColumn: name(of: second), source: rowKey(first),
            target: rowKey(second),
            relationship: linkNames[link]?.forward ?? "", order: quotedName(name(of: first)))
    }
}
