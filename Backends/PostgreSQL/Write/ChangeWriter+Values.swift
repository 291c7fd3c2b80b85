import PolyStoreBackend

/// Named values and the change log.
extension ChangeWriter {
    /// The statements of the named values.
    var valueStatements: [Statement] {
        if changes.values.isEmpty { return [] }
        let removed = ArrayParameter(.text)
        var values: [(name: String, bytes: [UInt8])] = []
        for change in changes.values {
            guard let bytes = change.bytes else {
                Self.append(change.name, to: removed)
                continue
            }
            values.append((change.name, bytes))
        }
        var statements: [Statement] = []
        if removed.count > 0 {
            statements.append(Statement("DELETE FROM \(tables.own("values")) WHERE name = ANY($1::text[])", [removed.parameter]))
        }
        let sql =
            "INSERT INTO \(tables.own("values")) (name, value) SELECT * FROM unnest($1::text[], $2::bytea[]) AS rows(name, value) "
            + "ON CONFLICT (name) DO UPDATE SET value = excluded.value"
        return statements
            + Self.parts(values, \.bytes.count).map { part in
                Statement(
                    sql,
                    DeferredParameters(types: [ParameterType.text.array, ParameterType.bytes.array]) {
                        let names = ArrayParameter(.text)
                        let contents = ArrayParameter(.bytes)
                        for (name, bytes) in part {
                            Self.append(name, to: names)
                            contents.append { buffer in bytes.withUnsafeBytes { buffer.append($0) } }
                        }
                        return [names.parameter, contents.parameter]
                    })
            }
    }

    private static func append(_ name: String, to array: ArrayParameter) {
        var name = name
        array.append { buffer in name.withUTF8 { buffer.appendNULFree(UnsafeRawBufferPointer($0)) } }
    }

    /// Returns the statements of the change log.
    /// - Throws: `invalidValue` for an entry that is too large for a message.
    func logStatements() throws -> [Statement] {
        var statements: [Statement] = []
        if let position = changes.logRemoval {
            statements.append(Statement("DELETE FROM \(tables.own("log")) WHERE position <= $1", [.integer(position)]))
        }
        let entries = sets.flatMap(\.logEntries)
        if entries.isEmpty { return statements }
        for entry in entries where entry.count > longestMessage {
            throw StoreError(
                .invalidValue,
                "An entry of the change log has \(entry.count) bytes. A store on PostgreSQL supports up to \(longestMessage) bytes. Divide the transaction.",
                location: location)
        }
        let sql =
            "WITH last AS (UPDATE \(tables.own("state")) SET \"lastLogEntry\" = \"lastLogEntry\" + $2 RETURNING \"lastLogEntry\" - $2 AS position, version + 1 AS version) "
            + "INSERT INTO \(tables.own("log")) (position, version, entry) "
            + "SELECT last.position + rows.number, last.version, rows.entry FROM last, unnest($1::bytea[]) WITH ORDINALITY AS rows(entry, number)"
        let types = [ParameterType.bytes.array, ParameterType.int8.oid]
        return statements
            + Self.parts(entries, \.count).map { part in
                Statement(
                    sql,
                    DeferredParameters(types: types) {
                        let array = ArrayParameter(.bytes)
                        for entry in part { array.append { buffer in entry.withUnsafeBytes { buffer.append($0) } } }
                        return [array.parameter, .integer(Int64(part.count))]
                    })
            }
    }

    /// Divides elements by the limits of one statement.
    static func parts<Element>(_ elements: [Element], _ count: (Element) -> Int) -> [ArraySlice<Element>] {
        var parts: [ArraySlice<Element>] = []
        var (start, byteCount) = (0, 0)
        for (index, element) in elements.enumerated() {
            if index - start == mostRows || byteCount >= mostBytes {
                parts.append(elements[start..<index])
                (start, byteCount) = (index, 0)
            }
            byteCount += count(element)
        }
        return start < elements.count ? parts + [elements[start...]] : parts
    }
}
