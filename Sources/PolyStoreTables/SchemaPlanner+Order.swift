/// The order in which rows are imported.
extension SchemaPlanner {
    /// Finds an order of the tables in which each follows those to which its rows refer.
    ///
    /// In a cycle the references of one table are set after all rows: of one with a column that identifies its rows, if there is such a table.
    mutating func orderTables() {
        var open = tables.indices.filter { !links.contains($0) }
        while !open.isEmpty {
            func waits(_ reference: Reference) -> Bool { reference.target != reference.table && open.contains(reference.target) }
            let free = open.first { table in !references.contains { $0.table == table && waits($0) } }
            let next = free ?? tableOfCycle(open)
            interruptCycle(at: next, open)
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

    /// Makes references of a table to itself or to tables that follow it optional.
    private mutating func interruptCycle(at table: Int, _ open: [Int]) {
        for index in references.indices
        where references[index].table == table && references[index].isRequired && open.contains(references[index].target) {
            references[index].isRequired = false
            note(
                tables[table].name, name(of: references[index]),
                "is NOT NULL and part of a cycle of references. The relationship is not required, because rows are imported one after another."
            )
        }
    }
}
