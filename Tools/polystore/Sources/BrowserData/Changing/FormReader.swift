import PolyStoreBackend
import PolyStoreCore

/// Makes forms of objects.
struct FormReader {
    let store: BrowserStore
    let context: Context

    private var names: NameReader { NameReader(store: store, context: context) }

    /// Returns the form of an object.
    /// - Parameter isNew: Whether the object was created to read its default values.
    func form(_ object: DynamicObject, isNew: Bool = false) throws -> ObjectForm {
        let entity = try store.model(object.entityName)
        let members = try members(of: object, entity)
        let fields = try entity.properties.map { property in
            switch property {
            case .attribute(let attribute): try field(attribute, of: object, entity)
            case .relationship(let relationship): try field(relationship, of: object, members[relationship.name])
            }
        }
        let named = try names.named(object)
        return ObjectForm(
            entity: object.entityName, object: isNew ? nil : named.reference, title: isNew ? object.entityName : named.title,
            fields: fields,
            seen: isNew ? "" : try SeenValues(object, entity, members: members.listed).text, concreteEntities: [])
    }

    /// Returns what an object has now, to be compared with what a form has shown.
    func seen(_ object: DynamicObject) throws -> SeenValues {
        let entity = try store.model(object.entityName)
        return try SeenValues(object, entity, members: members(of: object, entity).listed)
    }

    // MARK: To-many relationships

    /// The number of targets of a relationship, and the targets if a form lists them.
    struct Members {
        let count: Int
        let targets: [DynamicObject]?
    }

    /// Returns the to-many relationships of an object.
    /// - Parameter limit: The greatest number of targets to list.
    func members(
        of object: DynamicObject, _ entity: EntityModel, limit: Int = ObjectForm.memberLimit
    ) throws -> [String: Members] {
        let names = entity.relationships.filter(\.isToMany).map(\.name)
        guard !names.isEmpty else { return [:] }
        let counts = try counts(names, of: object)
        var members: [String: Members] = [:]
        for name in names {
            let count = counts[name] ?? 0
            // Reading the targets of a long relationship takes as long as it has targets.
            members[name] = Members(count: count, targets: count <= limit ? try object.objects(name) : nil)
        }
        return members
    }

    private func counts(_ names: [String], of object: DynamicObject) throws -> [String: Int] {
        if object.isInserted { return [:] }
        let terms = names.enumerated().map { SelectTerm("\($1.asPath).@count", as: "\($0)") }
        let query = EntityQuery(object.entityName).where("objectID == %@", object.id)
        let row = try context.queryAttributes(query, Select(terms)).first ?? [:]
        return Dictionary(uniqueKeysWithValues: names.enumerated().map { ($1, row["\($0)"]?.int ?? 0) })
    }

    // MARK: Fields

    private func field(_ attribute: AttributeDescription, of object: DynamicObject, _ entity: EntityModel) throws -> ObjectForm.Field {
        let (type, value) = (FieldText(attribute.type), try object.value(attribute.name))
        let size = value.map(FieldText.size) ?? 0
        let omitted = size > FieldText.limit ? size : nil
        let shown = omitted == nil ? value.map(type.text) : nil
        let required = entity.isRequired(attribute)
        return ObjectForm.Field(
            name: attribute.name, kind: .attribute(attribute.type), isRequired: required, isUnique: attribute.isUnique,
            hints: [type.expected] + attribute.rules.map { $0.hint(attribute.type) }, choices: type.choices, text: shown?.text ?? "",
            isEscaped: shown?.isEscaped ?? false, isNull: value == nil, sizeOfOmitted: omitted, targets: [], targetCount: 0)
    }

    private func field(_ relationship: RelationshipDescription, of object: DynamicObject, _ members: Members?) throws -> ObjectForm.Field {
        guard relationship.isToMany else {
            let target = try object.object(relationship.name)
            return ObjectForm.Field(
                name: relationship.name, kind: .toOne(destination: relationship.destination),
                isRequired: try store.model(object.entityName).isRequired(relationship), isUnique: false,
                hints: ["the row id or the name of a \(relationship.destination)"], choices: [],
                text: target.map { "\($0.id.rowID)" } ?? "", isEscaped: false, isNull: target == nil, sizeOfOmitted: nil,
                targets: try target.map { [try names.named($0)] } ?? [], targetCount: target == nil ? 0 : 1)
        }
        return ObjectForm.Field(
            name: relationship.name, kind: .toMany(destination: relationship.destination, isOrdered: relationship.isOrdered),
            isRequired: relationship.minCount > 0, isUnique: false, hints: relationship.hints, choices: [], text: "", isEscaped: false,
            isNull: false, sizeOfOmitted: nil, targets: try members?.targets?.map(names.named) ?? [], targetCount: members?.count ?? 0)
    }
}

extension [String: FormReader.Members] {
    /// The row ids of the targets that a form lists.
    var listed: [String: [Int64]] { compactMapValues { $0.targets?.map(\.id.rowID) } }
}

extension AttributeRule {
    /// Returns the rule for a reader.
    fileprivate func hint(_ type: AttributeType) -> String {
        let text = "\(self)"
        // A pattern is described in quotation marks, a length and a range by their bounds.
        if text.hasPrefix("\"") { return "matches \(text)" }
        return type == .string ? "\(text) characters" : type == .data ? "\(text) bytes" : "in the range \(text)"
    }
}

extension RelationshipDescription {
    fileprivate var hints: [String] {
        let bounds = maxCount.map { "\(minCount) to \($0) objects" } ?? (minCount > 0 ? "at least \(minCount) objects" : nil)
        return ["row ids or names of \(destination)"] + (bounds.map { [$0] } ?? [])
    }
}
