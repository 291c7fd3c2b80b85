import PolyStoreBackend

/// Turns the changes of link tables into statements. Several changes of a pair become one, because a statement cannot change a row twice.
struct LinkWriter {
    let tables: StoreTables

    /// The combined effect of the changes of a pair.
    private struct Outcome {
        let source: Int64
        let target: Int64
        /// A Boolean value that indicates whether the pair is removed before it is added, if it is added.
        var isRemoved = false
        var isAdded = false
        /// The positions to set, by the position columns of the table.
        var positions: [Int64?]
    }

    private struct Pair: Hashable {
        let source: Int64
        let target: Int64
    }

    /// - Throws: `misuse` for a link table of another schema.
    func statements(_ changes: [ChangeSet.LinkChange]) throws -> [Statement] {
        var byTable: [Int: (order: [Pair], outcomes: [Pair: Outcome])] = [:]
        for change in changes {
            guard tables.links.indices.contains(change.table) else {
                throw StoreError(.misuse, "The schema that the store was opened with has no link table \(change.table).")
            }
            let pair = Pair(source: change.source, target: change.target)
            let positions = tables.links[change.table].positions(of: change)
            var found = byTable[change.table, default: ([], [:])].outcomes[pair]
            if found == nil {
                byTable[change.table, default: ([], [:])].order.append(pair)
                found = Outcome(source: pair.source, target: pair.target, positions: positions.map { _ in nil })
            }
            guard var outcome = found else { continue }
            if change.isAddition {
                outcome.isAdded = true
                for (index, position) in positions.enumerated() { outcome.positions[index] = position ?? outcome.positions[index] }
            } else {
                (outcome.isRemoved, outcome.isAdded) = (true, false)
                outcome.positions = positions.map { _ in nil }
            }
            byTable[change.table]?.outcomes[pair] = outcome
        }
        return byTable.sorted { $0.key < $1.key }.flatMap { table, found in
            write(tables.links[table], found.order.compactMap { found.outcomes[$0] })
        }
    }

    private func write(_ table: LinkSQL, _ outcomes: [Outcome]) -> [Statement] {
        let removed = outcomes.filter(\.isRemoved)
        var statements: [Statement] = []
        for part in parts(removed) {
            statements.append(
                Statement(
                    "DELETE FROM \(table.name) AS t USING unnest($1::bigint[], $2::bigint[]) AS rows(source, target) "
                        + "WHERE t.source = rows.source AND t.target = rows.target",
                    Self.arrays(2) { [.integers(part.map(\.source)), .integers(part.map(\.target))] }))
        }
        // Of an existing pair only the given positions are set.
        var groups: [[Bool]: [Outcome]] = [:]
        for outcome in outcomes where outcome.isAdded { groups[outcome.positions.map { $0 != nil }, default: []].append(outcome) }
        for (given, group) in groups.sorted(by: { "\($0.key)" < "\($1.key)" }) {
            let columns = table.positions
            let names = (["source", "target"] + columns).joined(separator: ", ")
            let arrays = (0..<columns.count + 2).map { "$\($0 + 1)::bigint[]" }.joined(separator: ", ")
            let set = zip(columns, given).filter(\.1).map { "\($0.0) = excluded.\($0.0)" }.joined(separator: ", ")
            let sql =
                "INSERT INTO \(table.name) (\(names)) SELECT * FROM unnest(\(arrays)) AS rows(\(names)) "
                + "ON CONFLICT (source, target) DO \(set.isEmpty ? "NOTHING" : "UPDATE SET \(set)")"
            for part in parts(group) {
                statements.append(
                    Statement(
                        sql,
                        Self.arrays(columns.count + 2) {
                            [.integers(part.map(\.source)), .integers(part.map(\.target))]
                                + columns.indices.map { column in .integers(part.map { $0.positions[column] ?? 0 }) }
                        }))
            }
        }
        return statements
    }

    /// Returns arrays of integers that are encoded when they are sent.
    private static func arrays(_ count: Int, _ encode: @escaping () -> [Parameter]) -> DeferredParameters {
        DeferredParameters(types: [UInt32](repeating: ParameterType.int8.array, count: count), encode: encode)
    }

    private func parts(_ outcomes: [Outcome]) -> [ArraySlice<Outcome>] {
        stride(from: 0, to: outcomes.count, by: ChangeWriter.mostRows).map {
            outcomes[$0..<min($0 + ChangeWriter.mostRows, outcomes.count)]
        }
    }
}
