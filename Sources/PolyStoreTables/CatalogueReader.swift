import PolyStoreBackend

/// Reads the declarations of a database.
struct CatalogueReader {
    let connection: TableConnection
    private(set) var tables: [TableDefinition] = []
    private(set) var notes: [TableNote] = []

    init(_ connection: TableConnection) throws {
        self.connection = connection
        let shadows = try connection.rows("SELECT name, type FROM pragma_table_list WHERE schema = 'main'").reduce(into: [String: String]())
        {
            if case (.text(let name), .text(let type)) = ($1[0], $1[1]) { $0[name] = type }
        }
        let rows = try connection.rows(
            "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid")
        for row in rows {
            guard case .text(let type) = row[0], case .text(let name) = row[1], case .text(let table) = row[2] else { continue }
            let sql = if case .text(let sql) = row[3] { sql } else { "" }
            switch type {
            case "view": note(name, nil, "is a view, which has no rows of its own. An export creates it.")
            case "trigger": note(table, nil, "has the trigger \(name), which no class executes. An export creates it.")
            case "table": try readTable(name, sql, kind: shadows[name] ?? "table")
            default: break
            }
        }
    }

    private mutating func note(_ table: String, _ column: String?, _ reason: String) {
        notes.append(TableNote(table: table, column: column, reason: reason))
    }

    private mutating func readTable(_ name: String, _ sql: String, kind: String) throws {
        switch kind {
        case "virtual": return note(name, nil, "is a virtual table, whose module computes its rows. It is left out.")
        case "shadow": return note(name, nil, "belongs to a virtual table, and is left out.")
        default: break
        }
        let isWithoutRowID =
            try connection.rows("SELECT wr FROM pragma_table_list WHERE schema = 'main' AND name = ?", [.text(name)]).first == [.integer(1)]
        if isWithoutRowID { note(name, nil, "is a table WITHOUT ROWID. Its objects have row ids besides their primary key.") }
        let collations = try collations(of: name)
        var columns: [TableDefinition.Column] = []
        try connection.rows("SELECT name, type, \"notnull\", dflt_value, pk, hidden FROM pragma_table_xinfo(?)", [.text(name)]) { row in
            guard case .text(let column) = row[0], case .integer(let hidden) = row[5], hidden != 1 else { return }
            let declared = if case .text(let type) = row[1] { type } else { "" }
            let value: String? = if case .text(let text) = row[3] { text } else { nil }
            let position = if case .integer(let position) = row[4] { Int(position) } else { 0 }
            columns.append(
                TableDefinition.Column(
                    name: column, declaredType: declared, isRequired: row[2] != .integer(0), defaultExpression: value,
                    keyPosition: position,
                    isGenerated: hidden > 1, collation: collations[column.lowercased()] ?? "BINARY"))
        }
        let table = TableDefinition(
            name: name, sql: sql, isWithoutRowID: isWithoutRowID, columns: columns, foreignKeys: try foreignKeys(of: name),
            indexes: try indexes(of: name))
        for column in columns where column.isGenerated {
            note(name, column.name, "is a generated column: its expression is not part of a schema. It is left out.")
        }
        for column in columns where !column.isGenerated && column.collation.uppercased() != "BINARY" {
            note(
                name, column.name,
                "has the collating sequence \(column.collation). Attributes are compared as texts are stored; compare with [c] for letters of either case."
            )
        }
        for check in SQLWords(sql).checks {
            note(name, nil, "has the rule CHECK (\(check)), which is not part of the schema. Write it as a rule or in validate().")
        }
        tables.append(table)
    }

    private func foreignKeys(of table: String) throws -> [TableDefinition.ForeignKey] {
        var keys: [Int64: (columns: [String], table: String, targets: [String], onDelete: String, onUpdate: String)] = [:]
        try connection.rows(
            "SELECT id, \"table\", \"from\", \"to\", on_delete, on_update FROM pragma_foreign_key_list(?) ORDER BY id, seq", [.text(table)]
        ) { row in
            guard case .integer(let id) = row[0], case .text(let target) = row[1], case .text(let column) = row[2] else { return }
            let action = if case .text(let action) = row[4] { action } else { "" }
            let update = if case .text(let update) = row[5] { update } else { "" }
            var key = keys[id] ?? ([], target, [], action, update)
            key.columns.append(column)
            if case .text(let to) = row[3] { key.targets.append(to) }
            keys[id] = key
        }
        // SQLite numbers them from the last to the first.
        return keys.sorted { $0.key > $1.key }.map {
            TableDefinition.ForeignKey(
                columns: $0.value.columns, table: $0.value.table, targets: $0.value.targets, onDelete: $0.value.onDelete,
                onUpdate: $0.value.onUpdate)
        }
    }

    private mutating func indexes(of table: String) throws -> [TableDefinition.Index] {
        var found: [TableDefinition.Index] = []
        for row in try connection.rows(
            "SELECT name, \"unique\", origin, partial FROM pragma_index_list(?) ORDER BY seq DESC", [.text(table)])
        {
            guard case .text(let name) = row[0] else { continue }
            let isUnique = row[1] == .integer(1)
            if row[3] == .integer(1) {
                note(table, nil, "has the partial index \(name)\(isUnique ? ", which is unique for some rows only" : ""). It is left out.")
                continue
            }
            let parts = try connection.rows(
                "SELECT name, \"desc\", coll FROM pragma_index_xinfo(?) WHERE key = 1 ORDER BY seqno", [.text(name)])
            let columns = parts.compactMap { if case .text(let column) = $0[0] { column } else { nil } }
            guard columns.count == parts.count else {
                note(table, nil, "has the index \(name) of an expression. It is left out.")
                continue
            }
            if isUnique, parts.contains(where: { $0[2] != .text("BINARY") }) {
                note(
                    table, nil,
                    "has the unique index \(name) with a collating sequence, which regards other texts as equal. Here they are unique as they are stored."
                )
            }
            found.append(TableDefinition.Index(columns: columns, isUnique: isUnique))
        }
        return found
    }

    /// Returns the collating sequences that are declared for columns, by their names in small letters.
    private func collations(of table: String) throws -> [String: String] {
        var found: [String: String] = [:]
        // An index has the collating sequence of its column, unless it declares another one.
        let sql = try connection.rows("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?", [.text(table)]).first
        guard case .text(let text)? = sql?.first else { return found }
        for (column, collation) in SQLWords(text).collations { found[column.lowercased()] = collation }
        return found
    }
}

/// The words of a CREATE TABLE statement.
struct SQLWords {
    private enum Word: Equatable {
        case name(String)
        case symbol(Character)
        case text(String)
    }

    private let words: [(word: Word, range: Range<Int>)]
    private let characters: [Character]

    init(_ sql: String) {
        let characters = Array(sql)
        var words: [(Word, Range<Int>)] = []
        var at = 0
        func end(of quote: Character, from start: Int) -> Int {
            var at = start + 1
            while at < characters.count {
                if characters[at] == quote {
                    guard at + 1 < characters.count, characters[at + 1] == quote, quote != "]" else { return at + 1 }
                    at += 1
                }
                at += 1
            }
            return characters.count
        }
        while at < characters.count {
            let (start, character) = (at, characters[at])
            switch character {
            case "'", "\"", "`", "[":
                at = end(of: character == "[" ? "]" : character, from: at)
                let inner = String(characters[min(start + 1, at)..<max(start + 1, at - 1)])
                let quote = String(character)
                let plain = character == "[" ? inner : inner.replacing(quote + quote, with: quote)
                words.append((character == "'" ? .text(plain) : .name(plain), start..<at))
            case "-" where at + 1 < characters.count && characters[at + 1] == "-":
                while at < characters.count, !characters[at].isNewline { at += 1 }
            case "/" where at + 1 < characters.count && characters[at + 1] == "*":
                at += 2
                while at < characters.count, !(characters[at] == "*" && at + 1 < characters.count && characters[at + 1] == "/") { at += 1 }
                at = min(at + 2, characters.count)
            case _ where character.isLetter || character == "_":
                while at < characters.count, characters[at].isLetter || characters[at].isNumber || "_$".contains(characters[at]) { at += 1 }
                words.append((.name(String(characters[start..<at])), start..<at))
            default:
                at += 1
                if !character.isWhitespace { words.append((.symbol(character), start..<at)) }
            }
        }
        self.words = words
        self.characters = characters
    }

    private func isKeyword(_ index: Int, _ keyword: String) -> Bool {
        guard words.indices.contains(index), case .name(let name) = words[index].word, name.uppercased() == keyword else { return false }
        return words[index].range.count == keyword.count
    }

    /// The expressions of CHECK constraints.
    var checks: [String] {
        words.indices.compactMap { index in
            guard isKeyword(index, "CHECK"), index + 1 < words.count, words[index + 1].word == .symbol("(") else { return nil }
            var depth = 0
            for end in (index + 1)..<words.count {
                if words[end].word == .symbol("(") { depth += 1 }
                if words[end].word == .symbol(")") { depth -= 1 }
                if depth == 0 { return String(characters[words[index + 1].range.upperBound..<words[end].range.lowerBound]) }
            }
            return nil
        }
    }

    /// The collating sequences that columns declare.
    var collations: [(column: String, collation: String)] {
        var found: [(String, String)] = []
        var (depth, column): (Int, String?) = (0, nil)
        for (index, part) in words.enumerated() {
            switch part.word {
            case .symbol("("):
                depth += 1
                if depth == 1 { column = nil }
            case .symbol(")"): depth -= 1
            case .symbol(",") where depth == 1: column = nil
            case .name(let name) where depth == 1:
                if column == nil { column = name }
                if isKeyword(index, "COLLATE"), let column, index + 1 < words.count, case .name(let collation) = words[index + 1].word {
                    found.append((column, collation))
                }
            default: break
            }
        }
        return found
    }
}
