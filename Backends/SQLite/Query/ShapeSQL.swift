import PolyStoreBackend

/// Makes SQL out of a shape. Runs once per shape; what it reads was written by ``QueryCompiler``.
struct ShapeSQL {
    static let comparisons = ["=", "<>", "<", "<=", ">", ">="]
    /// How many operands stand side by side; more are grouped, as SQLite limits the depth of an expression and builds lists to the left.
    private static let groupSize = 8
    /// From so many values on a list is joined, see ``rowsOf(list:)``.
    private static let joinedCount = 16
    /// Where an index alone may do, the rows' ids must not be looked up; and rows are counted where they are found.
    private static let unjoined: QueryShape.Flags = [.onlyIDs, .count, .countsRows, .ignoresIndexes]
    /// What such a list is called in the statement.
    private static let listName = "polystore_list"

    private let words: ContiguousArray<UInt32>
    private let tables: StoreTables
    /// The table that conditions are on; within those on other objects it is theirs.
    private var table: EntityTable
    /// What stands before the columns of such a table; nil for the rows that are asked for.
    private var alias: String?
    private var aliases = 0
    private var at = 0
    /// The fields of the condition that is being made.
    private var named: Set<Int> = []

    private init(_ shape: QueryShape, _ table: EntityTable, _ tables: StoreTables) {
        words = shape.words
        self.table = table
        self.tables = tables
    }

    static func query(_ shape: QueryShape, _ table: EntityTable, _ tables: StoreTables) -> String {
        var maker = ShapeSQL(shape, table, tables)
        return maker.query()
    }

    /// The parentheses that grouping adds.
    static func groupingDepth(_ count: Int) -> Int {
        var depth = 0
        var left = count
        while left > groupSize {
            left = (left + groupSize - 1) / groupSize
            depth += 1
        }
        return depth
    }

    private mutating func next() -> UInt32 {
        guard at < words.count else { return 0 }
        at += 1
        return words[at - 1]
    }

    private mutating func query() -> String {
        _ = next()
        let flags = QueryShape.Flags(rawValue: next())
        let count = Int(next())
        var conditions: [String] = []
        // Stands before every other condition, where the rows are looked for.
        let counted = "\(RowCounter.name)(\(SQLNames.objectID))"
        var open: [Int] = []
        var isServedOtherwise = false
        for position in 0..<count {
            let word = at < words.count ? ShapeWord(words[at]) : nil
            named = []
            if let word, isJoinedList(word), flags.isDisjoint(with: Self.unjoined) {
                conditions.append(rowsOf(list: word))
            } else {
                conditions.append(condition())
            }
            if let word, isOpenRange(word) {
                open.append(position)
            } else if named.contains(where: leadsIndex) {
                isServedOtherwise = true
            }
        }
        // For a range with one end SQLite reckons with a quarter of all rows, and rather scans in the order of ids than sort them. It is
        // often far fewer. So the ids are looked up first; SQLite keeps them sorted, and then reads the records in that order.
        if open.count == 1, !isServedOtherwise, isByID(flags), flags.isDisjoint(with: [.limit, .count, .ignoresIndexes]) {
            if flags.contains(.countsRows) { conditions[open[0]] = "\(counted) AND \(conditions[open[0]])" }
            conditions[open[0]] = "\(SQLNames.objectID) IN (SELECT \(SQLNames.objectID) FROM \(table.name) WHERE \(conditions[open[0]]))"
        } else if flags.contains(.countsRows) {
            conditions.insert(counted, at: 0)
        }
        var body = " FROM \(table.name)" + (flags.contains(.ignoresIndexes) ? " NOT INDEXED" : "")
        if !conditions.isEmpty { body += " WHERE " + Self.join(conditions, " AND ") }

        var slice = ""
        if flags.contains(.limit) || flags.contains(.offset) {
            slice = " LIMIT " + (flags.contains(.limit) ? "?" : "-1") + (flags.contains(.offset) ? " OFFSET ?" : "")
        }
        if flags.contains(.count) {
            return slice.isEmpty ? "SELECT count(*)\(body)" : "SELECT count(*) FROM (SELECT 1\(body)\(slice))"
        }
        var list = flags.contains(.onlyIDs) ? SQLNames.objectID : table.selectList
        if flags.contains(.fields) {
            let count = Int(next())
            list = SQLNames.objectID
            for _ in 0..<count { list += ", " + column(Int(next())) }
        }
        return "SELECT \(list)\(body) ORDER BY \(order())\(slice)"
    }

    private mutating func order() -> String {
        var terms: [String] = []
        while at < words.count {
            let word = next()
            let ordinal = Int(word >> 16) - 1
            let name = column(ordinal)
            let direction = word & 1 != 0 ? " DESC" : ""
            let isAscending = word & 1 == 0
            // Where nulls stand is only said where it is not SQLite's own way (null is the smallest), as an index can then be used.
            let nulls = word & 2 == 0 ? "" : (isAscending ? " NULLS LAST" : " NULLS FIRST")
            if word & 4 != 0 {
                let null = word & 2 == 0 ? 0 : 3
                terms.append("CASE WHEN \(name) IS NULL THEN \(null) WHEN \(name) = 'NaN' THEN 1 ELSE 2 END\(direction)")
            } else if isUnsigned(ordinal) {
                // Those with the highest bit, which SQLite takes for negative, come after the others.
                terms.append("(\(name) < 0)\(direction)\(nulls)")
            }
            terms.append(name + direction + nulls)
        }
        return terms.joined(separator: ", ")
    }

    /// A comparison with one end, on a field that an index begins with.
    private func isOpenRange(_ word: ShapeWord) -> Bool {
        word.operation == .compare && word.comparison > 1 && word.ordinal >= 0 && leadsIndex(word.ordinal)
    }

    /// A long list of values that an index is asked for, one by one.
    private func isJoinedList(_ word: ShapeWord) -> Bool {
        word.operation == .oneOf && word.ordinal >= 0 && leadsIndex(word.ordinal) && at + 1 < words.count
            && words[at + 1] >= Self.joinedCount
    }

    /// The rows of a list, as a condition. For `IN` SQLite first sorts the values into a table of its own, and then all rows in the order of ids. Here it
    /// goes through the list as it is, and sorts ids only. Unlike `IN` it is false for null, never unknown, so it may only stand side by side with others.
    private mutating func rowsOf(list word: ShapeWord) -> String {
        _ = next()
        let values = Array(repeating: "(?)", count: Int(next())).joined(separator: ",")
        named.insert(word.ordinal)
        let column = "\(table.name).\(column(word.ordinal))"
        return "\(SQLNames.objectID) IN (WITH \(Self.listName)(value) AS (VALUES \(values)) SELECT \(table.name).\(SQLNames.objectID) "
            + "FROM \(Self.listName) CROSS JOIN \(table.name) ON \(column) = \(Self.listName).value)"
    }

    private func leadsIndex(_ ordinal: Int) -> Bool { ordinal < 0 || table.indexes.contains { $0.fields.first == ordinal } }

    /// Whether the rows are wanted in the order of their ids. To be asked after the conditions have been read.
    private func isByID(_ flags: QueryShape.Flags) -> Bool {
        let order = at + (flags.contains(.fields) && at < words.count ? 1 + Int(words[at]) : 0)
        return order < words.count && words[order] == 0
    }

    private func column(_ ordinal: Int) -> String {
        let name = ordinal < 0 ? SQLNames.objectID : table.columns[ordinal]
        return alias.map { "\($0).\(name)" } ?? name
    }
    private func isUnsigned(_ ordinal: Int) -> Bool { ordinal >= 0 && table.entity.fields[ordinal].type == .uint64 }

    /// `(a AND b)`, in groups where there are many.
    private static func join(_ parts: [String], _ separator: String) -> String {
        if parts.count == 1 { return parts[0] }
        if parts.count <= groupSize { return "(" + parts.joined(separator: separator) + ")" }
        var groups: [String] = []
        var start = 0
        while start < parts.count {
            let end = min(start + groupSize, parts.count)
            groups.append(join(Array(parts[start..<end]), separator))
            start = end
        }
        return join(groups, separator)
    }
}

// MARK: - Conditions

extension ShapeSQL {
    private mutating func condition() -> String {
        guard let word = ShapeWord(next()) else { return "0" }
        let name = column(word.ordinal)
        switch word.operation {
        case .never, .always, .unknown, .and, .or, .not, .related, .countRelated: break
        default: if alias == nil { named.insert(word.ordinal) }
        }
        switch word.operation {
        case .never: return "0"
        case .always: return "1"
        case .unknown: return "NULL"
        case .neverUnlessNull: return "(\(name) IS NULL AND NULL)"
        case .alwaysUnlessNull: return "(\(name) IS NOT NULL OR NULL)"
        case .compare: return comparison(word, name)
        case .isNaN: return "\(name) = 'NaN'"
        case .isNotNaN: return "\(name) <> 'NaN'"
        case .compareFields:
            let other = ShapeWord(next())?.ordinal ?? -1
            if alias == nil { named.insert(other) }
            return fields(word, other)
        case .isNull: return "\(name) IS NULL"
        case .oneOf:
            let count = Int(next())
            return "\(name) IN (\(Array(repeating: "?", count: count).joined(separator: ",")))"
        case .oneOfList: return "\(name) IN (SELECT value FROM json_each(?))"
        case .inRange: return "(\(name) >= ? AND \(name) < ?)"
        // On blobs, as the functions on text stop at a NUL.
        case .contains: return "instr(CAST(\(name) AS BLOB), ?) > 0"
        // The end of an empty blob would be null, and so neither true nor false.
        case .endsWith: return "(\(name) <> '' AND substr(CAST(\(name) AS BLOB), ?) = ?)"
        case .and, .or:
            let count = Int(next())
            var parts: [String] = []
            for _ in 0..<count { parts.append(condition()) }
            return Self.join(parts, word.operation == .and ? " AND " : " OR ")
        case .not: return "(NOT \(condition()))"
        case .related: return related(RelatedWord(next()))
        case .countRelated:
            let (rows, test) = others(RelatedWord(next()))
            return "(SELECT count(*) \(rows.from) WHERE \(rows.link) AND \(test)) \(Self.comparisons[word.comparison]) ?"
        }
    }

    /// A condition on other objects.
    private mutating func related(_ word: RelatedWord) -> String {
        let (rows, test) = others(word)
        switch word.quantifier {
        // Where only truth matters the others are looked for first, as an index may lead from them to the rows.
        case .one where word.isTruthEnough, .any where word.isTruthEnough:
            return "\(rows.key) IN (SELECT \(rows.otherKey) \(rows.from) WHERE \(test))"
        case .one: return "(SELECT \(test) \(rows.from) WHERE \(rows.link))"
        case .any: return "EXISTS (SELECT 1 \(rows.from) WHERE \(rows.link) AND \(test))"
        case .all: return "NOT EXISTS (SELECT 1 \(rows.from) WHERE \(rows.link) AND (\(test)) IS NOT TRUE)"
        }
    }

    /// How rows of another table belong to one of this.
    private struct Others {
        let from: String
        /// This row's column…
        let key: String
        /// … and that of the others that equals it.
        let otherKey: String
        var link: String { "\(otherKey) = \(key)" }
    }

    /// The other objects of a relationship, and the condition on them.
    private mutating func others(_ word: RelatedWord) -> (Others, String) {
        let (outer, outerAlias) = (table, alias)
        let relationship = outer.entity.relationships[word.relationship]
        let source = outerAlias ?? outer.name
        let other = tables.entities[relationship.destination]
        aliases += 1
        let name = "polystore_\(aliases)"
        let objectID = SQLNames.objectID
        let rows: Others
        switch relationship.storage {
        case .foreignKey(let field):
            rows = Others(from: "FROM \(other.name) AS \(name)", key: "\(source).\(outer.columns[field])", otherKey: "\(name).\(objectID)")
            if outerAlias == nil { named.insert(field) }
        case .inverse(let field):
            rows = Others(from: "FROM \(other.name) AS \(name)", key: "\(source).\(objectID)", otherKey: "\(name).\(other.columns[field])")
        case .link(let link, let isReversed):
            let (here, there) = isReversed ? ("target", "source") : ("source", "target")
            rows = Others(
                from:
                    "FROM \(tables.links[link].name) AS \(name)_link JOIN \(other.name) AS \(name) ON \(name).\(objectID) = \(name)_link.\(there)",
                key: "\(source).\(objectID)", otherKey: "\(name)_link.\(here)")
        }
        (table, alias) = (other, name)
        defer { (table, alias) = (outer, outerAlias) }
        return (rows, condition())
    }

    private func comparison(_ word: ShapeWord, _ name: String) -> String {
        let sign = Self.comparisons[word.comparison]
        let plain = "\(name) \(sign) ?"
        let isLess = word.comparison == 2 || word.comparison == 3
        let isGreater = word.comparison == 4 || word.comparison == 5
        switch word.variant {
        case .plain: return plain
        // As SQLite sees them, values with the highest bit are negative, and belong after all others.
        case .unsignedLow: return isLess ? "(\(name) >= 0 AND \(plain))" : (isGreater ? "(\(plain) OR \(name) < 0)" : plain)
        case .unsignedHigh: return isLess ? "(\(name) >= 0 OR \(plain))" : (isGreater ? "(\(name) < 0 AND \(plain))" : plain)
        // As SQLite sees it, the text NaN comes after all numbers, and belongs before them.
        case .nan: return isLess ? "(\(plain) OR \(name) = 'NaN')" : (isGreater ? "(\(plain) AND \(name) <> 'NaN')" : plain)
        }
    }

    private func fields(_ word: ShapeWord, _ other: Int) -> String {
        let sign = Self.comparisons[word.comparison]
        let left = column(word.ordinal)
        let right = column(other)
        if isUnsigned(word.ordinal), word.comparison > 1 { return "\(Self.flipped(left)) \(sign) \(Self.flipped(right))" }
        guard word.variant == .nan, word.comparison > 1 else { return "\(left) \(sign) \(right)" }
        let ifLeft = [2: "\(right) <> 'NaN'", 3: "1", 4: "0", 5: "\(right) = 'NaN'"][word.comparison] ?? "0"
        let ifRight = word.comparison >= 4 ? "1" : "0"
        return "(CASE WHEN \(left) IS NULL OR \(right) IS NULL THEN NULL WHEN \(left) = 'NaN' THEN \(ifLeft) "
            + "WHEN \(right) = 'NaN' THEN \(ifRight) ELSE \(left) \(sign) \(right) END)"
    }

    /// With the highest bit turned over, signed order is unsigned order.
    private static func flipped(_ name: String) -> String {
        "((\(name) & 9223372036854775807) | (~\(name) & -9223372036854775808))"
    }
}
