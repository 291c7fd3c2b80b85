/// The order in which rows are imported.
extension SchemaPlanner {
    /// Finds an order of the tables in which each follows those to which its rows refer.
    ///
    /// In a cycle the references of one table are set after all rows. So that its rows are found again, it is one with a column that identifies them; if the cycle has none, its references remain
    /// attributes.
    mutating func orderTables() {
        var open = tables.indices.filter { !links.contains($0) }
        while !open.isEmpty {
            func waits(_ reference: Reference) -> Bool { reference.target != reference.table && open.contains(reference.target) }
            let free = open.first { table in !references.contains { $0.table == table && waits($0) } }
            let next = free ?? tableOfCycle(open)
            keepLateReferences(of: next, open)
            order.append(next)
            open.removeAll { $0 == next }
        }
    }

    /// Returns a table that refers to itself by others.
    private func tableOfCycle(_ open: [Int]) -> Int {
        let cyclic = open.filter { table in
            var (found, new): (Set<Int>, [Int]) = ([], [table])
            while let next = new.popLast() {
                for reference in references where reference.table == next && reference.target != next && open.contains(reference.target) {
                    if reference.target == table { return true }
                    if found.insert(reference.target).inserted { new.append(reference.target) }
                }
            }
            return false
        }
        // The fewer references have to be satisfied later, the more remain required.
        func rank(_ table: Int) -> Int {
            let late = references.filter { $0.table == table && open.contains($0.target) }
            return (ownKey(table) == nil ? 1000 : 0) + late.count(where: \.isRequired)
        }
        return cyclic.min { rank($0) < rank($1) } ?? open[0]
    }

    private mutating func keepLateReferences(of table: Int, _ open: [Int]) {
        let isFindable = ownKey(table) != nil
        for index in references.indices.reversed() where references[index].table == table && open.contains(references[index].target) {
            let reference = references[index]
            if !isFindable {
                note(
                    tables[table].name, name(of: reference),
                    "has a foreign key to \(tables[reference.target].name) that is no relationship: it is part of a cycle, and no unique column without NULL identifies the rows of the table. It remains an attribute."
                )
                references.remove(at: index)
            } else if reference.isRequired {
                references[index].isRequired = false
                note(
                    tables[table].name, name(of: reference),
                    "is NOT NULL and part of a cycle of references. The relationship is not required, because rows are imported one after another."
                )
            }
        }
    }
}
