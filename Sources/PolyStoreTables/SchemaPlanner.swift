import PolyStoreBackend
import PolyStoreKernel
import PolyStoreSource

/// Converts tables to entities, and foreign keys to relationships.
struct SchemaPlanner {
    /// A foreign key that becomes a relationship.
    struct Reference {
        let table: Int
        /// The position of the column in its table.
        let column: Int
        let target: Int
        let targetColumn: Int
        let onDelete: String
        var isRequired: Bool
        var name = ""
        var inverseName = ""
        let isOneToOne: Bool
    }

    private let connection: TableConnection
    let tables: [TableDefinition]
    private(set) var notes: [TableNote]
    private let leftOut: LeftOut
    /// The forms of the columns, by table and column.
    var forms: [[ColumnForm]] = []
    /// The columns that contain NULL.
    private(set) var nulls: [Set<Int>] = []
    var references: [Reference] = []
    private(set) var links: Set<Int> = []
    /// The tables whose rows become objects, in the order of their import.
    var order: [Int] = []
    var entityNames: [String] = []
    /// The names of the attributes, by table and column.
    var attributeNames: [[Int: String]] = []
    private var inverses: [[PropertyDescription]] = []
    var linkNames: [Int: (forward: String, backward: String)] = [:]

    init(_ connection: TableConnection) throws {
        self.connection = connection
        let catalogue = try CatalogueReader(connection)
        tables = catalogue.tables
        notes = catalogue.notes
        leftOut = catalogue.leftOut
        for table in tables { try profile(table) }
        try findReferences()
        findLinks()
        orderTables()
        nameEverything()
    }

    mutating func note(_ table: String, _ column: String?, _ reason: String) {
        notes.append(TableNote(table: table, column: column, reason: reason))
    }

    // MARK: Values

    /// Reads all values of a table, to find the types of its columns.
    private mutating func profile(_ table: TableDefinition) throws {
        let stored = table.columns.indices.filter { !table.columns[$0].isGenerated }
        let columns = stored.map { table.columns[$0] }
        var profiles = columns.map { ColumnProfile(declared: $0.declaredType) }
        var withNull: Set<Int> = []
        if !columns.isEmpty {
            let list = columns.map { quotedName($0.name) }.joined(separator: ", ")
            try connection.rows("SELECT \(list) FROM \(quotedName(table.name))") { row in
                for index in columns.indices {
                    let value = row[Int32(index)]
                    if value == .null { withNull.insert(stored[index]) } else { profiles[index].add(value) }
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
        var found = table.columns.map { _ in ColumnForm.literal }
        for (position, profile) in zip(stored, profiles) { found[position] = profile.form }
        forms.append(found)
        nulls.append(withNull)
    }

    // MARK: Foreign keys

    private func index(of table: String) -> Int? { tables.firstIndex { isSameName($0.name, table) } }

    private func targetColumn(_ key: TableDefinition.ForeignKey) -> (table: Int, column: Int)? {
        guard key.columns.count == 1, let target = index(of: key.table) else { return nil }
        let names = key.targets.isEmpty ? tables[target].key : key.targets
        guard names.count == 1, let column = tables[target].position(of: names[0]), !tables[target].columns[column].isGenerated,
            tables[target].isUnique([names[0]])
        else { return nil }
        return (target, column)
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
                        "has a foreign key (\(names)) to \(key.table) that does not become a relationship: \(reason).")
                }
                guard key.columns.count == 1 else {
                    keep("it has several columns, which remain attributes")
                    continue
                }
                guard let place = table.position(of: key.columns[0]), !table.columns[place].isGenerated else {
                    keep("the column is generated")
                    continue
                }
                let column = table.columns[place]
                guard let (target, targetColumn) = targetColumn(key) else {
                    keep("the table does not exist, or the column that it refers to is not unique")
                    continue
                }
                guard !references.contains(where: { $0.table == position && $0.column == place }) else {
                    keep("the column has another one")
                    continue
                }
                guard !referenced.contains("\(position) \(place)") else {
                    keep("other foreign keys refer to the column, which remains an attribute")
                    continue
                }
                guard try isComplete(table, column, tables[target], tables[target].columns[targetColumn]) else {
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
                        table: position, column: place, target: target, targetColumn: targetColumn,
                        onDelete: key.onDelete.uppercased(),
                        isRequired: table.isRequired(column), isOneToOne: table.isUnique([column.name])))
            }
        }
    }

    /// Returns whether each value of a foreign key is exactly that of a row.
    private func isComplete(
        _ table: TableDefinition, _ column: TableDefinition.Column, _ target: TableDefinition, _ targetColumn: TableDefinition.Column
    ) throws -> Bool {
        let (child, parent) = ("c.\(quotedName(column.name))", "p.\(quotedName(targetColumn.name))")
        // A comparison by the declared collating sequence can use the index of the column.
        let order = column.isCollationKnown && targetColumn.isCollationKnown ? "" : " COLLATE BINARY"
        let missing = try connection.rows(
            """
            SELECT 1 FROM \(quotedName(table.name)) c WHERE \(child) IS NOT NULL AND NOT EXISTS (SELECT 1 FROM \(quotedName(target.name)) p
            WHERE \(parent) = \(child)\(order) AND typeof(\(parent)) = typeof(\(child)) AND CAST(\(parent) AS BLOB) = CAST(\(child) AS BLOB)) LIMIT 1
            """)
        return missing.isEmpty
    }

    /// Finds the tables whose only contents are the connections of two other tables.
    private mutating func findLinks() {
        for (position, table) in tables.enumerated() {
            let own = references.filter { $0.table == position }
            let columns = table.columns.map(\.name)
            guard columns.count == 2, own.count == 2, table.isUnique(columns), !references.contains(where: { $0.target == position }),
                table.columns.allSatisfy({ !$0.isGenerated }),
                table.columns.allSatisfy({ table.isRequired($0) || !nulls[position].contains(table.position(of: $0.name) ?? 0) }),
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
            var attributes: [Int: String] = [:]
            for (place, column) in table.columns.enumerated() where !column.isGenerated && !links.contains(position) {
                if let reference = references.firstIndex(where: { $0.table == position && $0.column == place }) {
                    let stem = Self.withoutID(column.name) ?? entityNames[references[reference].target]
                    references[reference].name = SwiftNames.property(words: stem, types: taken, &own)
                } else {
                    attributes[place] = SwiftNames.property(words: column.name, types: taken, &own)
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
            let forward = isSame ? Self.withoutID(name(of: second)) ?? name(of: second) : Self.plural(entityNames[second.target])
            let backward = isSame ? Self.withoutID(name(of: first)) ?? name(of: first) : Self.plural(entityNames[first.target])
            let forwardName = SwiftNames.property(words: forward, types: taken, &names[first.target])
            linkNames[link] = (forwardName, SwiftNames.property(words: backward, types: taken, &names[second.target]))
        }
    }

    /// The foreign keys of a table that connects two others, in the order of its columns.
    func ends(of link: Int) -> (Reference, Reference) {
        let own = references.filter { $0.table == link }
        return own[0].column == 0 ? (own[0], own[1]) : (own[1], own[0])
    }

    /// Returns the name of the column of a foreign key.
    func name(of reference: Reference) -> String { tables[reference.table].columns[reference.column].name }

    /// Returns a name without its suffix for an id: `Album` for `AlbumId`, `album` for `album_id`; nil for `id` alone.
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
        addInverses()
        let entities = tables.indices.filter { !links.contains($0) }.map { entity($0) }
        let plans = order.enumerated().map { tablePlan($0.element, position: $0.offset, order) }
        let statements = try connection.rows(
            "SELECT type, sql, tbl_name, name FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rowid"
        )
        var (first, later): ([String], [String]) = ([], [])
        for row in statements {
            guard case .text(let type) = row[0], case .text(let sql) = row[1], case .text(let table) = row[2],
                case .text(let name) = row[3], !leftOut.tables.contains(foldedName(table)), !leftOut.parts.contains(foldedName(name))
            else { continue }
            if type == "table" { first.append(sql) } else { later.append(sql) }
        }
        return TablesPlan(
            schema: SchemaDescription(name: name, entities: entities), tables: plans, links: links.sorted().map(linkPlan),
            tableStatements: first,
            otherStatements: later, header: try FileHeader(connection))
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

    func reference(_ table: Int, _ column: Int) -> Reference? { references.first { $0.table == table && $0.column == column } }

    private mutating func entity(_ position: Int) -> EntityDescription {
        let table = tables[position]
        var properties: [PropertyDescription] = []
        for (place, column) in table.columns.enumerated() where !column.isGenerated {
            if let reference = reference(position, place) {
                properties.append(
                    .relationship(
                        RelationshipDescription(
                            name: reference.name, destination: entityNames[reference.target], isToMany: false,
                            inverse: reference.inverseName,
                            isRequired: reference.isRequired)))
            } else {
                properties.append(.attribute(attribute(column, place, of: position)))
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

    private mutating func attribute(_ column: TableDefinition.Column, _ place: Int, of position: Int) -> AttributeDescription {
        let table = tables[position]
        let form = forms[position][place]
        let isUnique = table.isUnique([column.name])
        var attribute = AttributeDescription(
            name: attributeNames[position][place] ?? "", type: form.attributeType, isOptional: !table.isRequired(column),
            isUnique: isUnique,
            isIndexed: !isUnique && table.indexes.contains { $0.columns.count == 1 && isSameName($0.columns[0], column.name) })
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
            note(table.name, column.name, "has the default \(text), which is not a value of the attribute's type, and is left out.")
        }
        return attribute
    }

    private mutating func compoundIndexes(_ position: Int) -> [IndexDescription] {
        let table = tables[position]
        var found: [IndexDescription] = []
        let key = TableDefinition.Index(columns: table.key, isUnique: true)
        for index in [key] + table.indexes where index.columns.count > 1 {
            let names = index.columns.compactMap { column in
                table.position(of: column).flatMap { reference(position, $0)?.name ?? attributeNames[position][$0] }
            }
            guard names.count == index.columns.count, Set(names).count == names.count else {
                note(
                    table.name, nil,
                    "has an index with a generated column, or one twice (\(index.columns.joined(separator: ", "))). It is left out.")
                continue
            }
            if let same = found.firstIndex(where: { $0.fields == names }) {
                if index.isUnique { found[same] = IndexDescription(fields: names, isUnique: true) }
            } else {
                found.append(IndexDescription(fields: names, isUnique: index.isUnique))
            }
        }
        return found
    }
}
