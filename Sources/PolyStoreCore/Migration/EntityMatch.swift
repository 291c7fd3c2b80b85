import Foundation
import PolyStoreBackend

/// The inferred conversion of the records of an old entity to records of a new one.
struct EntityMatch {
    /// The origin of a field's value.
    enum FieldSource: Equatable {
        /// The same value in every record.
        case constant(Value)
        /// The value of a field of the old record, converted if the types differ.
        case field(Int, replacingNullWith: Value)
        /// The value of a default expression, evaluated for each record. For records of some classes of a hierarchy only, if there are any; null in the others.
        case computed(Set<String>?)
        /// The value of a field of the old record, converted if the types differ; a default expression is evaluated for each null.
        case fieldOrComputed(Int)
        /// A value for records of some classes of a hierarchy; null in the others.
        case constantOfClasses(Value, Set<String>)
        /// The name of the object's class, by its old name. Objects of other classes are removed.
        case classes([String: String])
        /// A new required attribute without a default value: records cannot be migrated.
        case missing
    }

    let source: Entity
    let target: Entity
    /// The origin of the values, by field index of the target entity.
    private(set) var fields: [FieldSource] = []
    /// The index of the old relationship, by relationship index of the target; `nil` for a new relationship.
    private(set) var relationships: [Int?] = []
    /// The properties of the old entity that the new one does not have.
    private(set) var removed: [String] = []
    /// Descriptions of the differences.
    private(set) var changes: [String] = []
    /// The problems that cannot be resolved automatically.
    private(set) var problems: [MigrationReport.Finding] = []
    /// The fields of the old entity that must not contain null, with the names of the properties in the new entity.
    private(set) var requiredFields: [(field: Int, name: String)] = []

    /// - Parameters:
    ///   - renaming: The new names of properties, by their old names.
    ///   - corresponds: Returns whether the objects of an old entity become objects of a new one, by entity index.
    init(_ source: Entity, _ target: Entity, renaming: [String: String], corresponds: (Int, Int) -> Bool) {
        self.source = source
        self.target = target
        if source.name != target.name { changes.append("entity \(source.name) is renamed \(target.name)") }
        let names = OldPropertyNames(source, target, renaming)
        relationships = target.relationships.map { relationship in
            guard let name = names.old(relationship.name), let old = source.relationship(named: name),
                corresponds(old.destination, relationship.destination)
            else { return nil }
            return old.index
        }
        fields = target.fields.map { _ in .missing }
        for field in target.fields { fields[field.index] = match(field, names) }
        describe(names)
    }

    private mutating func match(_ field: Field, _ names: OldPropertyNames) -> FieldSource {
        if let along = field.positionAlong {
            guard let old = relationships[along], let position = source.fields.first(where: { $0.positionAlong == old }) else {
                return .constant(.null)
            }
            return .field(position.index, replacingNullWith: .null)
        }
        if let relationship = field.relationship { return match(relationship: target.relationships[relationship]) }
        if field.index == target.classifierField { return matchClassifier() }
        guard let name = names.old(field.name), let old = source.field(named: name), old.relationship == nil,
            old.index != source.classifierField
        else { return added(field) }
        guard ValueConversion.isLossless(from: old.type, to: field.type) else {
            problems.append(
                MigrationReport.Finding(
                    .refused, target.name, field.name,
                    "\(target.name).\(field.name) changes from \(old.type.rawValue) to \(field.type.rawValue), which can lose values. Convert the values in a "
                        + "schema mapping."))
            return .constant(.null)
        }
        if old.isOptional, !field.isOptional, field.hasEvaluableDefault { return .fieldOrComputed(old.index) }
        return .field(old.index, replacingNullWith: replacement(of: old, field))
    }

    private mutating func match(relationship: Relationship) -> FieldSource {
        guard let relationshipIndex = relationships[relationship.index] else { return .constant(.null) }
        let old = source.relationships[relationshipIndex]
        guard case .foreignKey(let field) = old.storage else {
            problems.append(
                MigrationReport.Finding(
                    .refused, target.name, relationship.name,
                    "\(target.name).\(relationship.name) leads to several objects in the old version and to one in the new. Choose the object in a schema mapping."
                ))
            return .constant(.null)
        }
        if relationship.isRequired, !old.isRequired { requiredFields.append((field, relationship.name)) }
        return .field(field, replacingNullWith: .null)
    }

    /// Returns the value that replaces null in a field that becomes required.
    private mutating func replacement(of old: Field, _ field: Field) -> Value {
        guard old.isOptional, !field.isOptional else { return .null }
        if let value = field.defaultValue, !value.isNull { return value }
        requiredFields.append((old.index, field.name))
        return field.type.anyValue
    }

    /// Returns the origin of an attribute that the old version does not have.
    private func added(_ field: Field) -> FieldSource {
        let owner = target.subentity(declaring: field.name)
        if field.hasEvaluableDefault { return .computed(owner) }
        let value = field.defaultValue ?? .null
        if let owner {
            // The fields of other classes are null.
            return value.isNull ? .constant(.null) : .constantOfClasses(value, owner)
        }
        if value.isNull, !field.isOptional { return .missing }
        return .constant(value)
    }

    private mutating func matchClassifier() -> FieldSource {
        let classes = target.classes
        guard let old = source.classifierField else {
            guard classes.first?.isAbstract == false else {
                problems.append(
                    MigrationReport.Finding(
                        .refused, target.name, nil,
                        "\(target.name) becomes abstract, so its objects must become objects of an entity below it. Choose the entity in a schema mapping."
                    ))
                return .constant(.null)
            }
            return .constant(.text(target.name))
        }
        var names: [String: String] = [:]
        for old in source.classes where !old.isAbstract {
            let new = classes.first { $0.name == old.name } ?? classes.first { $0.originalName == old.name && !old.isRoot }
            if let new, !new.isAbstract {
                names[old.name] = new.name
            } else if old.isRoot, let root = classes.first, !root.isAbstract {
                names[old.name] = root.name
            }
        }
        let keepsAll = source.classes.allSatisfy { $0.isAbstract || names[$0.name] == $0.name }
        return keepsAll ? .field(old, replacingNullWith: .null) : .classes(names)
    }

    // MARK: Use

    /// A Boolean value that indicates whether the backend can carry the records over without reading each one.
    var isCarried: Bool {
        // If an entity ceases to be a hierarchy, the objects of its subentities are removed.
        if source.classifierField != nil, target.classifierField == nil { return false }
        return zip(fields, target.fields).allSatisfy { part, field in
            switch part {
            case .constant(let value): field.isOptional || !value.isNull
            case .field(let index, _): field.type.contains(valuesOf: source.fields[index].type)
            case .computed, .fieldOrComputed, .constantOfClasses, .classes, .missing: false
            }
        }
    }

    /// The fields in the form that a backend requires; valid only if ``isCarried``.
    var carriedFields: [SchemaChange.FieldSource] {
        fields.map { part in
            switch part {
            case .constant(let value): .constant(value)
            case .field(let index, let replacement): .field(index, replacingNullWith: replacement)
            case .computed, .fieldOrComputed, .constantOfClasses, .classes, .missing: .constant(.null)
            }
        }
    }

    /// The names of the classes whose objects are removed.
    var removedClasses: [String] {
        guard source.classifierField != nil else { return [] }
        if target.classifierField == nil { return source.classes.filter { !$0.isAbstract && !$0.isRoot }.map(\.name) }
        for case .classes(let names) in fields {
            return source.classes.filter { !$0.isAbstract && names[$0.name] == nil }.map(\.name)
        }
        return []
    }

    /// A Boolean value that indicates whether objects of the entity may be removed.
    var removesObjects: Bool { !removedClasses.isEmpty }

    private mutating func describe(_ names: OldPropertyNames) {
        var kept: Set<String> = []
        for property in target.description.properties where property.name != EntityHierarchy.classifier {
            let path = "\(target.name).\(property.name)"
            guard let name = names.old(property.name), let old = source.description.properties.first(where: { $0.name == name }) else {
                changes.append("\(path) is added")
                continue
            }
            if case .relationship(let new) = property, target.relationship(named: new.name).map({ relationships[$0.index] }) == .some(nil) {
                changes.append("\(path) is added")
                continue
            }
            guard property.isRelationship == old.isRelationship else {
                changes.append("\(path) is added")
                continue
            }
            kept.insert(name)
            if name != property.name { changes.append("\(source.name).\(name) is renamed \(property.name)") }
            changes += property.differences(from: old).map { "\(path) \($0)" }
        }
        for old in source.description.properties where !kept.contains(old.name) && old.name != EntityHierarchy.classifier {
            removed.append(old.name)
            changes.append("\(source.name).\(old.name) is removed")
        }
        for name in removedClasses { changes.append("the entity \(name) is removed") }
        let before = Set(source.classes.map(\.name))
        for part in target.classes.dropFirst() where !before.contains(part.name) {
            changes.append(
                part.originalName.map { before.contains($0) ? "entity \($0) is renamed \(part.name)" : "the entity \(part.name) is added" }
                    ?? "the entity \(part.name) is added")
        }
        let old = Set(source.description.indexes)
        let new = Set(target.description.indexes)
        for index in target.description.indexes where !old.contains(index) {
            changes.append(
                "\(target.name): \(index.isUnique ? "uniqueness of" : "an index on") \(index.fields.joined(separator: ", ")) is added")
        }
        for index in source.description.indexes where !new.contains(index) {
            changes.append(
                "\(target.name): \(index.isUnique ? "uniqueness of" : "an index on") \(index.fields.joined(separator: ", ")) is removed")
        }
    }
}

/// The old names of the properties of an entity.
private struct OldPropertyNames {
    private let target: Entity
    private let known: Set<String>
    private let renamed: [String: String]
    private let taken: Set<String>

    init(_ source: Entity, _ target: Entity, _ renaming: [String: String]) {
        self.target = target
        known = Set(source.description.properties.map(\.name))
        let known = known
        renamed = Dictionary(renaming.filter { known.contains($0.key) }.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first })
        taken = Set(renaming.keys)
    }

    /// Returns the name of a property in the old version; `nil` if it is new.
    func old(_ name: String) -> String? {
        if let old = renamed[name] { return old }
        guard let property = target.description.properties.first(where: { $0.name == name }) else { return nil }
        if known.contains(name), !taken.contains(name) { return name }
        guard let original = property.originalName, known.contains(original), !taken.contains(original),
            !target.description.properties.contains(where: { $0.name == original })
        else { return nil }
        return original
    }
}

extension PropertyDescription {
    var isRelationship: Bool {
        if case .relationship = self { true } else { false }
    }

    var originalName: String? {
        switch self {
        case .attribute(let attribute): attribute.originalName
        case .relationship(let relationship): relationship.originalName
        }
    }

    /// Returns the differences from the same property in an earlier version, except names.
    fileprivate func differences(from old: PropertyDescription) -> [String] {
        var found: [String] = []
        switch (old, self) {
        case (.attribute(let old), .attribute(let new)):
            if old.type != new.type { found.append("changes from \(old.type.rawValue) to \(new.type.rawValue)") }
            if old.isOptional != new.isOptional { found.append(new.isOptional ? "becomes optional" : "becomes required") }
            if old.isUnique != new.isUnique { found.append(new.isUnique ? "becomes unique" : "is no longer unique") }
            if old.isIndexed != new.isIndexed { found.append(new.isIndexed ? "is indexed" : "is no longer indexed") }
        case (.relationship(let old), .relationship(let new)):
            if old.isToMany != new.isToMany { found.append(new.isToMany ? "leads to many objects" : "leads to one object") }
            if old.isOrdered != new.isOrdered { found.append(new.isOrdered ? "becomes ordered" : "is no longer ordered") }
            if old.inverse != new.inverse { found.append(new.inverse.map { "has the inverse \($0)" } ?? "names no inverse") }
            if old.isRequired != new.isRequired { found.append(new.isRequired ? "becomes required" : "is no longer required") }
            if old.minCount != new.minCount || old.maxCount != new.maxCount { found.append("allows other counts") }
            if old.deleteRule != new.deleteRule { found.append("has the delete rule \(new.deleteRule.rawValue)") }
        default: break
        }
        return found
    }
}

extension AttributeType {
    /// A placeholder value of the type for fields that are never null.
    fileprivate var anyValue: Value {
        switch self {
        case .uuid: .blob(Array(repeating: 0, count: 16))
        case .decimal: .blob(Array(Decimal(0).attributeValue.bytes))
        case .url: .text("about:blank")
        default:
            switch physical {
            case .integer: .integer(0)
            case .real: .real(0)
            case .text: .text("")
            case .blob: .blob([])
            }
        }
    }
}

extension Value {
    fileprivate var bytes: [UInt8] {
        if case .blob(let bytes) = self { bytes } else { [] }
    }
}

extension Entity {
    /// Returns the names of the subentity that declares a property and of all its subentities; `nil` if the root declares it.
    fileprivate func subentity(declaring property: String) -> Set<String>? {
        guard let field = field(named: property)?.index, let owner = classes.dropFirst().first(where: { $0.ownFields.contains(field) })
        else { return nil }
        return Set(classes[owner.descendants].map(\.name))
    }
}
