import PolyStoreBackend

/// Generates SQL from a shape that ``QueryCompiler`` has written. Runs once per shape.
struct ShapeSQL {
    static let comparisons = ["=", "<>", "<", "<=", ">", ">="]
    /// The maximum number of operands in one group. More operands are nested in groups, because SQLite limits the depth of an expression and parses lists
    /// left-recursively.
    private static let groupSize = 8
    /// The number of values from which a list is joined; see ``rowsOf(list:)``.
    private static let joinedCount = 16
    /// The requests for which lists are not joined: a covering index must not look up row ids, and rows are counted where they are found.
    private static let unjoined: QueryShape.Flags = [.onlyIDs, .count, .countsRows, .ignoresIndexes]
    /// The name of a joined list in the statement.
    private static let listName = "polystore_list"

    private let words: ContiguousArray<UInt32>
    private let tables: StoreTables
    /// The table of the current condition; within a condition on related objects, their table.
    private var table: EntityTable
    /// The alias of that table; `nil` for the table of the request.
    private var alias: String?
    private var aliases = 0
    private var at = 0
    /// The fields of the current condition.
    private var named: Set<Int> = []
    /// A Boolean value that indicates whether the statement reports the rows that it examines; see ``RowCounter``.
    private var countsRows = false

    private init(_ shape: QueryShape, _ table: EntityTable, _ tables: StoreTables) {
        words = shape.words
        self.table = table
        self.tables = tables
    }

    static func query(_ shape: QueryShape, _ table: EntityTable, _ tables: StoreTables) -> String {
        var maker = ShapeSQL(shape, table, tables)
        return maker.query()
    }

    /// Returns the number of nested parentheses that grouping adds.
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
        countsRows = flags.contains(.countsRows)
        let count = Int(next())
        var conditions: [String] = []
        // Precedes every other condition, where the rows are found.
        let counted = RowCounter.call(SQLNames.objectID)
        var open: [Int] = []
        // The parts of each OR of ranges.
        var alternatives: [Int: [String]] = [:]
        var isServedOtherwise = false
        for position in 0..<count {
            let word = at < words.count ? ShapeWord(words[at]) : nil
            named = []
            if let word, isJoinedList(word), flags.isDisjoint(with: Self.unjoined) {
                conditions.append(rowsOf(list: word))
            } else if let word, isOpenAlternative(word) {
                _ = next()
                let parts = (0..<Int(next())).map { _ in condition() }
                conditions.append(Self.join(parts, " OR "))
                alternatives[position] = parts
                open.append(position)
                continue
            } else {
                conditions.append(condition())
            }
            if let word, isOpenRange(word) {
                open.append(position)
            } else if named.contains(where: leadsIndex) {
                isServedOtherwise = true
            }
        }
        // SQLite estimates that a one-sided range selects a quarter of all rows, and prefers a scan in id order to sorting. The range often selects far fewer.
        // The ids are therefore looked up first; SQLite keeps them sorted and then reads the records in id order.
        if open.count == 1, !isServedOtherwise, isByID(flags), flags.isDisjoint(with: [.limit, .count, .ignoresIndexes]) {
            let searches = (alternatives[open[0]] ?? [conditions[open[0]]]).map { condition in
                let test = flags.contains(.countsRows) ? "\(counted) AND \(condition)" : condition
                return "SELECT \(SQLNames.objectID) FROM \(table.name) WHERE \(test)"
            }
            conditions[open[0]] = "\(SQLNames.objectID) IN (\(searches.joined(separator: " UNION ALL ")))"
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
            let fieldIndex = Int(word >> 16) - 1
            let name = column(fieldIndex)
            let direction = word & 1 != 0 ? " DESC" : ""
            let isAscending = word & 1 == 0
            // The position of nulls is stated only if it is not SQLite's default (null first), because an index can then be used.
            let nulls = word & 2 == 0 ? "" : (isAscending ? " NULLS LAST" : " NULLS FIRST")
            if word & 4 != 0, isUnsigned(fieldIndex) {
                // Values above Int64.max, which are negative in SQLite, follow the others.
                terms.append("(\(name) < 0)\(direction)\(nulls)")
            } else if word & 4 != 0 {
                let null = word & 2 == 0 ? 0 : 3
                terms.append("CASE WHEN \(name) IS NULL THEN \(null) WHEN \(name) = 'NaN' THEN 1 ELSE 2 END\(direction)")
            }
            terms.append(name + direction + nulls)
        }
        return terms.joined(separator: ", ")
    }

    /// Returns whether a condition is a one-sided comparison on the leading field of an index.
    private func isOpenRange(_ word: ShapeWord) -> Bool {
        word.operation == .compare && word.comparison > 1 && word.fieldIndex >= 0 && !word.avoidsIndexes && leadsIndex(word.fieldIndex)
    }

    /// Returns whether a condition is an OR of comparisons on leading fields of indexes.
    private func isOpenAlternative(_ word: ShapeWord) -> Bool {
        guard word.operation == .or, at + 1 < words.count else { return false }
        let count = Int(words[at + 1])
        guard (2...16).contains(count), at + 1 + count < words.count else { return false }
        let parts = words[(at + 2)..<(at + 2 + count)].compactMap { ShapeWord($0) }
        let areServed = parts.allSatisfy {
            $0.operation == .compare && $0.comparison != 1 && $0.fieldIndex >= 0 && leadsIndex($0.fieldIndex)
        }
        // SQLite itself handles equalities well.
        return areServed && parts.count == count && parts.contains { $0.comparison > 1 }
    }

    /// Returns whether a condition is a long list of values of an indexed field.
    private func isJoinedList(_ word: ShapeWord) -> Bool {
        word.operation == .oneOf && word.fieldIndex >= 0 && !word.avoidsIndexes && leadsIndex(word.fieldIndex) && at + 1 < words.count
            && words[at + 1] >= Self.joinedCount
    }

    /// Returns a condition for the rows of a list. For `IN`, SQLite first sorts the values into a table and then sorts all rows by id. A join iterates over the
    /// list unsorted and sorts only ids. It is false rather than unknown for null, so it is valid only in a conjunction.
    private mutating func rowsOf(list word: ShapeWord) -> String {
        _ = next()
        let values = Array(repeating: "(?)", count: Int(next())).joined(separator: ",")
        named.insert(word.fieldIndex)
        let column = table.expression(word.fieldIndex, in: table.name)
        return "\(SQLNames.objectID) IN (WITH \(Self.listName)(value) AS (VALUES \(values)) SELECT \(table.name).\(SQLNames.objectID) "
            + "FROM \(Self.listName) CROSS JOIN \(table.name) ON \(column) = \(Self.listName).value)"
    }

    private func leadsIndex(_ fieldIndex: Int) -> Bool { fieldIndex < 0 || table.isLeading(fieldIndex) }

    /// Returns whether the rows are requested in id order. Call it after the conditions have been read.
    private func isByID(_ flags: QueryShape.Flags) -> Bool {
        let order = at + (flags.contains(.fields) && at < words.count ? 1 + Int(words[at]) : 0)
        return order < words.count && words[order] == 0
    }

    private func column(_ fieldIndex: Int) -> String {
        guard fieldIndex < 0 else { return table.expression(fieldIndex, in: alias) }
        return alias.map { "\($0).\(SQLNames.objectID)" } ?? SQLNames.objectID
    }
    private func isUnsigned(_ fieldIndex: Int) -> Bool {
        table.entity.fields.indices.contains(fieldIndex) && table.entity.fields[fieldIndex].type == .uint64
    }

    /// Returns `(a AND b)`, with nested groups for many parts.
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
        // A unary plus prevents SQLite from using an index for the column.
        let name = (word.avoidsIndexes ? "+" : "") + column(word.fieldIndex)
        switch word.operation {
        case .never, .always, .unknown, .and, .or, .not, .related, .countRelated, .compareDatePart, .datePartIsNull, .datePartOneOf,
            .jsonField:
            break
        default: if alias == nil, !word.avoidsIndexes { named.insert(word.fieldIndex) }
        }
        switch word.operation {
        case .never: return "0"
        case .always: return "1"
        case .unknown: return "NULL"
        case .compareFields:
            let other = ShapeWord(next())?.fieldIndex ?? -1
            if alias == nil { named.insert(other) }
            return fields(word, other)
        case .jsonField:
            let value = JSONFieldFunction.call(name, next())
            return ShapeWord(next()).map { test($0, value) } ?? "0"
        case .compareDatePart: return "\(DatePartFunction.call(name, next())) \(Self.comparisons[word.comparison]) ?"
        case .datePartIsNull: return "\(DatePartFunction.call(name, next())) IS NULL"
        case .datePartOneOf:
            let value = DatePartFunction.call(name, next())
            let count = Int(next())
            // An empty list selects nothing, and a null value is unknown as in any other list.
            if count == 0 { return "(\(value) IS NULL AND NULL)" }
            return "\(value) IN (\(Array(repeating: "?", count: count).joined(separator: ",")))"
        case .and, .or:
            let count = Int(next())
            var parts: [String] = []
            for _ in 0..<count { parts.append(condition()) }
            return Self.join(parts, word.operation == .and ? " AND " : " OR ")
        case .not: return "(NOT \(condition()))"
        case .related: return related(RelatedWord(next()))
        case .countRelated:
            let (rows, test) = others(RelatedWord(next()))
            return "(SELECT count(*) \(rows.from) WHERE \(rows.link) AND \(rows.counted)\(test)) \(Self.comparisons[word.comparison]) ?"
        default: return test(word, name)
        }
    }

    /// Returns a test of a value.
    private mutating func test(_ word: ShapeWord, _ name: String) -> String {
        switch word.operation {
        case .neverUnlessNull: return "(\(name) IS NULL AND NULL)"
        case .alwaysUnlessNull: return "(\(name) IS NOT NULL OR NULL)"
        case .compare: return comparison(word, name)
        case .isNaN: return "\(name) = 'NaN'"
        case .isNotNaN: return "\(name) <> 'NaN'"
        case .isNull: return "\(name) IS NULL"
        case .oneOf:
            let count = Int(next())
            return "\(name) IN (\(Array(repeating: "?", count: count).joined(separator: ",")))"
        case .oneOfList: return "\(name) IN (SELECT value FROM json_each(?))"
        case .inRange: return "(\(name) >= ? AND \(name) < ?)"
        // On blobs, because text functions stop at a NUL.
        case .contains: return "instr(CAST(\(name) AS BLOB), ?) > 0"
        // The suffix of an empty blob would be null, which is neither true nor false.
        case .endsWith: return "(\(name) <> '' AND substr(CAST(\(name) AS BLOB), ?) = ?)"
        default: return "0"
        }
    }

    /// Returns a condition on related objects.
    private mutating func related(_ word: RelatedWord) -> String {
        let (rows, test) = others(word)
        switch word.quantifier {
        // If only truth matters, the related objects are found first, because an index may lead from them to the rows.
        case .one where word.isTruthEnough, .any where word.isTruthEnough:
            // A unary plus prevents SQLite from finding the rows with an index, because a negation selects many.
            let key = (word.quantifier == .one && word.listsDestinations ? "+" : "") + rows.key
            return "\(key) IN (SELECT \(rows.otherKey) \(rows.from) WHERE \(rows.counted)\(test))"
        case .one: return "(SELECT \(test) \(rows.from) WHERE \(rows.counted)\(rows.link))"
        case .any: return "EXISTS (SELECT 1 \(rows.from) WHERE \(rows.link) AND \(rows.counted)\(test))"
        case .all: return "NOT EXISTS (SELECT 1 \(rows.from) WHERE \(rows.link) AND \(rows.counted)(\(test)) IS NOT TRUE)"
        }
    }

    /// The join of a related table with this one.
    private struct Others {
        let from: String
        /// The column of this table.
        let key: String
        /// The column of the related table that equals it.
        let otherKey: String
        /// The term that reports the row to ``RowCounter``, followed by AND; empty if rows are not counted.
        let counted: String
        var link: String { "\(otherKey) = \(key)" }
    }

    /// Returns the related objects of a relationship and the condition on them.
    private mutating func others(_ word: RelatedWord) -> (Others, String) {
        let (outer, outerAlias) = (table, alias)
        let relationship = outer.entity.relationships[word.relationship]
        let source = outerAlias ?? outer.name
        let other = tables.entities[relationship.destination]
        aliases += 1
        let name = "polystore_\(aliases)"
        let objectID = SQLNames.objectID
        let counted = countsRows ? RowCounter.call(related: "\(name).\(objectID)") + " AND " : ""
        let rows: Others
        var link: String?
        switch relationship.storage {
        case .foreignKey(let field):
            rows = Others(
                from: "FROM \(other.name) AS \(name)", key: "\(source).\(outer.columns[field])", otherKey: "\(name).\(objectID)",
                counted: counted)
            if outerAlias == nil { named.insert(field) }
        case .inverse(let field):
            rows = Others(
                from: "FROM \(other.name) AS \(name)", key: "\(source).\(objectID)", otherKey: "\(name).\(other.columns[field])",
                counted: counted)
        case .link(let table, let isReversed):
            let (here, there) = isReversed ? ("target", "source") : ("source", "target")
            let links = "FROM \(tables.links[table].name) AS \(name)_link"
            if word.listsDestinations { link = "\(name)_link.\(there)" }
            rows = Others(
                from: link == nil ? "\(links) JOIN \(other.name) AS \(name) ON \(name).\(objectID) = \(name)_link.\(there)" : links,
                key: "\(source).\(objectID)", otherKey: "\(name)_link.\(here)",
                counted: link.map { countsRows ? RowCounter.call(related: $0) + " AND " : "" } ?? counted)
        }
        (table, alias) = (other, name)
        defer { (table, alias) = (outer, outerAlias) }
        let test = condition()
        guard let link else { return (rows, test) }
        // SQLite evaluates the subquery once, and each link is tested against the list.
        return (rows, "\(link) IN (SELECT \(name).\(objectID) FROM \(other.name) AS \(name) WHERE \(counted)\(test))")
    }

    private func comparison(_ word: ShapeWord, _ name: String) -> String {
        let sign = Self.comparisons[word.comparison]
        let plain = "\(name) \(sign) ?"
        let isLess = word.comparison == 2 || word.comparison == 3
        let isGreater = word.comparison == 4 || word.comparison == 5
        switch word.variant {
        case .plain: return plain
        // In SQLite, values with the highest bit are negative; they sort after all others.
        case .unsignedLow: return isLess ? "(\(name) >= 0 AND \(plain))" : (isGreater ? "(\(plain) OR \(name) < 0)" : plain)
        case .unsignedHigh: return isLess ? "(\(name) >= 0 OR \(plain))" : (isGreater ? "(\(name) < 0 AND \(plain))" : plain)
        // In SQLite, the text NaN sorts after all numbers; it must sort before them.
        case .nan: return isLess ? "(\(plain) OR \(name) = 'NaN')" : (isGreater ? "(\(plain) AND \(name) <> 'NaN')" : plain)
        }
    }

    private func fields(_ word: ShapeWord, _ other: Int) -> String {
        let sign = Self.comparisons[word.comparison]
        let left = column(word.fieldIndex)
        let right = column(other)
        if isUnsigned(word.fieldIndex), word.comparison > 1 { return "\(Self.flipped(left)) \(sign) \(Self.flipped(right))" }
        guard word.variant == .nan, word.comparison > 1 else { return "\(left) \(sign) \(right)" }
        let ifLeft = [2: "\(right) <> 'NaN'", 3: "1", 4: "0", 5: "\(right) = 'NaN'"][word.comparison] ?? "0"
        let ifRight = word.comparison >= 4 ? "1" : "0"
        return "(CASE WHEN \(left) IS NULL OR \(right) IS NULL THEN NULL WHEN \(left) = 'NaN' THEN \(ifLeft) "
            + "WHEN \(right) = 'NaN' THEN \(ifRight) ELSE \(left) \(sign) \(right) END)"
    }

    /// Returns an expression with the highest bit inverted, so that signed order is unsigned order.
    private static func flipped(_ name: String) -> String {
        "((\(name) & 9223372036854775807) | (~\(name) & -9223372036854775808))"
    }
}
