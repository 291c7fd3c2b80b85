import PolyStoreBackend
import PolyStoreKernel
import PolyStoreSource

/// Makes entities of tables, and relationships of foreign keys.
struct SchemaPlanner {
    /// A foreign key that becomes a relationship.
    struct Reference {
        let table: Int
        let column: String
        let target: Int
        let targetColumn: String
        let onDelete: String
        var isRequired: Bool
        var name = ""
        var inverseName = ""
        let isOneToOne: Bool
    }

    private let connection: TableConnection
    let tables: [TableDefinition]
    private(set) var notes: [TableNote]
    var forms: [[String: ColumnForm]] = []
    private var nulls: [Set<String>] = []
    var references: [Reference] = []
    private var links: Set<Int> = []
    var entityNames: [String] = []
    var attributeNames: [[String: String]] = []
    private var inverses: [[PropertyDescription]] = []
    var linkNames: [Int: (forward: String, backward: String)] = [:]

    init(_ connection: TableConnection) throws {
        self.connection = connection
        let catalogue = try CatalogueReader(connection)
        tables = catalogue.tables
        notes = catalogue.notes
        for table in tables { try profile(table) }
        try findReferences()
        findLinks()
        nameEverything()
    }

    private mutating func note(_ table: String, _ column: String?, _ reason: String) {
        notes.append(TableNote(table: table, column: column, reason: reason))
    }

    // MARK: Values

    /// Reads all values of a table, to find the types of its columns.
    private mutating func profile(_ table: TableDefinition) throws {
        let columns = table.columns.filter { !$0.isGenerated }
        var profiles = columns.map { ColumnProfile(declared: $0.declaredType) }
        var withNull: Set<String> = []
        if !columns.isEmpty {
            let list = columns.map { quotedName($0.name) }.joined(separator: ", ")
            try connection.rows("SELECT \(list) FROM \(quotedName(table.name))") { row in
                for (index, column) in columns.enumerated() {
                    let value = row[Int32(index)]
                    if value == .null { withNull.insert(column.name) } else { profiles[index].add(value) }
                }
            }
        }
        for (column, profile) in zip(columns, profiles) {
            if profile.form == .literal {
                note(
                    table.name, column.name,
                    "contains values of several storage classes. The attribute has literals of SQL: 12, 1.5, 'text', X'00FF'.")
            } else if column.declaredType.isEmpty {
                note(
                    table.name, column.name,
                    "has no declared type, and accepts every value. The attribute has the type of its values, \(profile.form.attributeType)."
                )
            }
        }
        forms.append(Dictionary(uniqueKeysWithValues: zip(columns.map(\.name), profiles.map(\.form))))
        nulls.append(withNull)
    }

    // MARK: Foreign keys

    private func index(of table: String) -> Int? { tables.firstIndex { $0.name.lowercased() == table.lowercased() } }

    private func targetColumn(_ key: TableDefinition.ForeignKey) -> (table: Int, column: String)? {
        guard key.columns.count == 1, let target = index(of: key.table) else { return nil }
        let names = key.targets.isEmpty ? tables[target].key : key.targets
        guard names.count == 1, let column = tables[target].column(names[0]), !column.isGenerated, tables[target].isUnique([column.name])
        else { return nil }
        return (target, column.name)
    }

    private mutating func findReferences() throws {
        var referenced: Set<String> = []
        for table in tables {
            for key in table.foreignKeys {
                if let (target, column) = targetColumn(key) { referenced.insert("\(target) \(column)") }
            }
        }
        for (position, table) in tables.enumerated() {
            for key in table.foreignKeys {
                let names = key.columns.joined(separator: ", ")
                func keep(_ reason: String) {
                    note(
                        table.name, key.columns.count == 1 ? key.columns[0] : nil,
                        "has a foreign key (\(names)) to \(key.table) that is no relationship: \(reason).")
                }
                guard key.columns.count == 1 else {
                    keep("it has several columns, which remain attributes")
                    continue
                }
                guard let column = table.column(key.columns[0]), !column.isGenerated else {
                    keep("the column is generated")
                    continue
                }
                guard let (target, targetColumn) = targetColumn(key) else {
                    keep("there is no such table, or the column that it refers to is not unique")
                    continue
                }
                guard !references.contains(where: { $0.table == position && $0.column == column.name }) else {
                    keep("the column has another one")
                    continue
                }
                guard !referenced.contains("\(position) \(column.name)") else {
                    keep("other foreign keys refer to the column, which remains an attribute")
                    continue
                }
                guard try isComplete(table.name, column.name, tables[target].name, targetColumn) else {
                    keep("some rows refer to rows that do not exist, or by a value of another type or case")
                    continue
                }
                if !["NO ACTION", "RESTRICT", "CASCADE", "SET NULL"].contains(key.onDelete.uppercased()) {
                    note(
                        table.name, column.name,
                        "has the action ON DELETE \(key.onDelete), for which no delete rule exists. The reference is cleared.")
                }
                references.append(
                    Reference(
                        table: position, column: column.name, target: target, targetColumn: targetColumn,
                        onDelete: key.onDelete.uppercased(),
                        isRequired: table.isRequired(column), isOneToOne: table.isUnique([column.name])))
            }
        }
    }

    /// Returns whether each value of a foreign key is exactly that of a row.
    private func isComplete(_ table: String, _ column: String, _ target: String, _ targetColumn: String) throws -> Bool {
        let (child, parent) = ("c.\(quotedName(column))", "p.\(quotedName(targetColumn))")
        let missing = try connection.rows(
            """
            SELECT 1 FROM \(quotedName(table)) c WHERE \(child) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \(quotedName(target)) p
            WHERE \(parent) = \(child) AND typeof(\(parent)) = typeof(\(child)) AND CAST(\(parent) AS BLOB) = CAST(\(child) AS BLOB)) LIMIT 1
            """)
        return missing.isEmpty
    }

    /// Finds the tables that only connect two others.
    private mutating func findLinks() {
        for (position, table) in tables.enumerated() {
            let own = references.filter { $0.table == position }
            let columns = table.columns.map(\.name)
            guard columns.count == 2, own.count == 2, table.isUnique(columns), !references.contains(where: { $0.target == position }),
                table.columns.allSatisfy({ !$0.isGenerated && (table.isRequired($0) || !nulls[position].contains($0.name)) }),
                own.allSatisfy({ !$0.isOneToOne })
            else { continue }
            links.insert(position)
        }
    }

    // MARK: Names

    private mutating func nameEverything() {
        var taken: Set<String> = []
        entityNames = tables.indices.map { links.contains($0) ? "" : SwiftNames.type(words: tables[$0].name, &taken) }
        inverses = tables.map { _ in [] }
        var names: [Set<String>] = []
        for (position, table) in tables.enumerated() {
            var own: Set<String> = []
            var attributes: [String: String] = [:]
            for column in table.columns where !column.isGenerated && !links.contains(position) {
                if let reference = references.firstIndex(where: { $0.table == position && $0.column == column.name }) {
                    let stem = Self.withoutID(column.name) ?? entityNames[references[reference].target]
                    references[reference].name = SwiftNames.property(words: stem, types: taken, &own)
                } else {
                    attributes[column.name] = SwiftNames.property(words: column.name, types: taken, &own)
                }
            }
            attributeNames.append(attributes)
            names.append(own)
        }
        for index in references.indices where !links.contains(references[index].table) {
            let reference = references[index]
            let isOnly = references.count { $0.table == reference.table && $0.target == reference.target } == 1
            let stem = reference.isOneToOne ? entityNames[reference.table] : Self.plural(entityNames[reference.table])
            let name = isOnly ? stem : "\(stem) by \(reference.name)"
            references[index].inverseName = SwiftNames.property(words: name, types: taken, &names[reference.target])
        }
        for link in links.sorted() {
            let (first, second) = ends(of: link)
            let isSame = first.target == second.target
            let forward = isSame ? Self.withoutID(second.column) ?? second.column : Self.plural(entityNames[second.target])
            let backward = isSame ? Self.withoutID(first.column) ?? first.column : Self.plural(entityNames[first.target])
            let forwardName = SwiftNames.property(words: forward, types: taken, &names[first.target])
            linkNames[link] = (forwardName, SwiftNames.property(words: backward, types: taken, &names[second.target]))
        }
    }

    /// The foreign keys of a table that connects two others, in the order of its columns.
    func ends(of link: Int) -> (Reference, Reference) {
        let own = references.filter { $0.table == link }
        return own[0].column == tables[link].columns[0].name ? (own[0], own[1]) : (own[1], own[0])
    }

    /// `Album` for `AlbumId`, `album` for `album_id`.
    private static func withoutID(_ name: String) -> String? {
        for suffix in ["_id", "_ID", "_Id", "Id", "ID"] where name.hasSuffix(suffix) && name.count > suffix.count {
            return String(name.dropLast(suffix.count))
        }
        return name.lowercased() == "id" ? nil : name
    }

    private static func plural(_ name: String) -> String {
        if name.hasSuffix("s") { return name }
        if name.hasSuffix("y"), let before = name.dropLast().last, !"aeiou".contains(before) { return name.dropLast() + "ies" }
        return name + "s"
    }

    // MARK: Entities

    /// Returns the plan of the whole database.
    mutating func plan(named name: String) throws -> TablesPlan {
        let order = orderTables()
        addInverses()
        let entities = tables.indices.filter { !links.contains($0) }.map { entity($0) }
        let plans = order.enumerated().map { tablePlan($0.element, position: $0.offset, order) }
        let statements = try connection.rows(
            "SELECT type, sql, tbl_name FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid")
        let known = Set(tables.map(\.name))
        var (first, later): ([String], [String]) = ([], [])
        for row in statements {
            guard case .text(let type) = row[0], case .text(let sql) = row[1], case .text(let table) = row[2] else { continue }
            if type == "table" {
                if known.contains(table) { first.append(sql) }
            } else if type == "view" || known.contains(table) {
                later.append(sql)
            }
        }
        return TablesPlan(
            schema: SchemaDescription(name: name, entities: entities), tables: plans, links: links.sorted().map(linkPlan),
            tableStatements: first,
            otherStatements: later)
    }

    /// Returns the tables in an order in which each follows those that its rows need. A cycle of required references is interrupted.
    private mutating func orderTables() -> [Int] {
        var order: [Int] = []
        var open = tables.indices.filter { !links.contains($0) }
        func isBlocked(_ reference: Reference) -> Bool { reference.isRequired && open.contains(reference.target) }
        while !open.isEmpty {
            let next = open.first { table in !references.contains { $0.table == table && isBlocked($0) } } ?? open[0]
            for index in references.indices where references[index].table == next && isBlocked(references[index]) {
                references[index].isRequired = false
                note(
                    tables[next].name, references[index].column,
                    "is NOT NULL and part of a cycle of references. The relationship is not required, because rows are imported one after another."
                )
            }
            order.append(next)
            open.removeAll { $0 == next }
        }
        return order
    }

    private mutating func addInverses() {
        for reference in references where !links.contains(reference.table) {
            let rule: DeleteRule =
                switch reference.onDelete {
                case "CASCADE": .cascade
                case "NO ACTION", "RESTRICT": .deny
                default: .nullify
                }
            inverses[reference.target].append(
                .relationship(
                    RelationshipDescription(
                        name: reference.inverseName, destination: entityNames[reference.table], isToMany: !reference.isOneToOne,
                        inverse: reference.name,
                        deleteRule: rule)))
        }
        for link in links.sorted() {
            let (first, second) = ends(of: link)
            let name = linkNames[link] ?? ("", "")
            inverses[first.target].append(
                .relationship(
                    RelationshipDescription(
                        name: name.forward, destination: entityNames[second.target], isToMany: true, inverse: name.backward)))
            inverses[second.target].append(
                .relationship(
                    RelationshipDescription(
                        name: name.backward, destination: entityNames[first.target], isToMany: true, inverse: name.forward)))
        }
    }

    func reference(_ table: Int, _ column: String) -> Reference? { references.first { $0.table == table && $0.column == column } }

    private mutating func entity(_ position: Int) -> EntityDescription {
        let table = tables[position]
        var properties: [PropertyDescription] = []
        for column in table.columns where !column.isGenerated {
            if let reference = reference(position, column.name) {
                properties.append(
                    .relationship(
                        RelationshipDescription(
                            name: reference.name, destination: entityNames[reference.target], isToMany: false,
                            inverse: reference.inverseName,
                            isRequired: reference.isRequired)))
            } else {
                properties.append(.attribute(attribute(column, of: position)))
            }
        }
        if table.key.count > 1 {
            note(
                table.name, nil,
                "has a primary key of several columns, (\(table.key.joined(separator: ", "))). It is a uniqueness constraint.")
        }
        return EntityDescription(
            name: entityNames[position], properties: properties + inverses[position], indexes: compoundIndexes(position))
    }

    private mutating func attribute(_ column: TableDefinition.Column, of position: Int) -> AttributeDescription {
        let table = tables[position]
        let form = forms[position][column.name] ?? .literal
        let isUnique = table.isUnique([column.name])
        var attribute = AttributeDescription(
            name: attributeNames[position][column.name] ?? column.name, type: form.attributeType, isOptional: !table.isRequired(column),
            isUnique: isUnique,
            isIndexed: !isUnique && table.indexes.contains { $0.columns == [column.name] })
        guard let text = column.defaultExpression else { return attribute }
        var expression = text
        while expression.hasPrefix("("), expression.hasSuffix(")") { expression = String(expression.dropFirst().dropLast()) }
        if ["CURRENT_TIMESTAMP", "CURRENT_DATE"].contains(expression.uppercased()), form.attributeType == .date {
            (attribute.defaultExpression, attribute.defaultValue) = (.date, .real(0))
        } else if let value = SQLiteValue(literal: expression).map({ column.affinity.stored($0) }) {
            if value == .null { return attribute }
            attribute.defaultValue = form.attributeValue(value).flatMap(form.storedValue)
        }
        if attribute.defaultValue == nil {
            note(table.name, column.name, "has the default \(text), which is no value of the attribute, and is left out.")
        }
        return attribute
    }

    private mutating func compoundIndexes(_ position: Int) -> [IndexDescription] {
        let table = tables[position]
        var found: [IndexDescription] = []
        let key = TableDefinition.Index(columns: table.key, isUnique: true)
        for index in [key] + table.indexes where index.columns.count > 1 {
            let names = index.columns.compactMap { column in
                reference(position, column)?.name ?? attributeNames[position][table.column(column)?.name ?? column]
            }
            guard names.count == index.columns.count, Set(names).count == names.count else {
                note(
                    table.name, nil,
                    "has an index with a generated column, or one twice (\(index.columns.joined(separator: ", "))). It is left out.")
                continue
            }
            if !found.contains(where: { $0.fields == names }) { found.append(IndexDescription(fields: names, isUnique: index.isUnique)) }
        }
        return found
    }
}
