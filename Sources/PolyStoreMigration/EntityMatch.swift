import Foundation
import PolyStoreBackend
import PolyStoreKernel

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
        /// The value of a field of the old record, converted if the types differ; a default expression is evaluated for each null. For records of some classes of a
        /// hierarchy only, if there are any; null in the others.
        case fieldOrComputed(Int, Set<String>?)
        /// A value for records of some classes of the old hierarchy; null in the others.
        case constantOfClasses(Value, Set<String>)
        /// The value of a field of the old record, in the objects of some classes of the old hierarchy; null in the others.
        case fieldOfClasses(Int, Set<String>, replacingNullWith: Value)
        /// The value of a field of the old record, converted to a type that cannot represent all of them, in a downgrade. A value that does not fit is replaced; without
        /// a replacement, it prevents the migration.
        case fitting(Int, replacingNullWith: Value, misfitsWith: Value?)
        /// The name of the object's class, by its old name. Objects of other classes are removed.
        case classes([String: String])
        /// The target of a to-one relationship that is determined for each object; see ``LinkOrigin``.
        case link
        /// The position in an ordered relationship, which is written after all objects.
        case position
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
    /// The old classes whose objects lose the value of a field, by field index of the target entity.
    private(set) var excluded: [Int: Set<String>] = [:]
    /// The fields of the old entity that must not contain null, with the names of the properties in the new entity.
    private(set) var requiredFields: [(field: Int, name: String)] = []
    /// The new names of the classes of the old entity whose objects are kept.
    private(set) var classNames: [String: String] = [:]

    /// - Parameters:
    ///   - renaming: The new names of properties, by their old names.
    ///   - className: The class of the new hierarchy whose objects the objects become; `nil` determines the classes by their names.
    ///   - isDowngrade: Whether the target is an earlier version: what the source has renamed gets its former name back.
    ///   - corresponds: Returns whether the objects of an old entity become objects of a new one, by entity index.
    /// - Throws: `invalidSchema` if two properties have one origin, or for an unknown name in `renaming`.
    init(
        _ source: Entity, _ target: Entity, renaming: [String: String], className: String? = nil, isDowngrade: Bool = false,
        corresponds: (Int, Int) -> Bool
    ) throws {
        self.source = source
        self.target = target
        if let className {
            changes.append("entity \(source.name) becomes \(className), a subentity of \(target.name)")
        } else if source.name != target.name {
            changes.append("entity \(source.name) is renamed \(target.name)")
        }
        let names = try OldPropertyNames(source, target, renaming, isDowngrade: isDowngrade)
        matchClasses(className, isDowngrade)
        relationships = target.relationships.map { relationship in
            guard let name = names.old(relationship.name), let old = source.relationship(named: name),
                corresponds(old.destination, relationship.destination)
            else { return nil }
            return old.index
        }
        fields = target.fields.map { _ in .missing }
        for field in target.fields { fields[field.index] = match(field, names, isDowngrade) }
        describe(names)
    }

    private mutating func match(_ field: Field, _ names: OldPropertyNames, _ isDowngrade: Bool) -> FieldSource {
        // Determined by ``resolve(_:)``.
        if field.positionAlong != nil || field.relationship != nil { return .constant(.null) }
        if field.index == target.classifierField { return matchClassifier() }
        guard let name = names.old(field.name), let old = source.field(named: name), old.relationship == nil,
            old.index != source.classifierField
        else { return added(field) }
        let isLossless = ValueConversion.isLossless(from: old.type, to: field.type)
        guard isLossless || isDowngrade && !field.hasEvaluableDefault else { return narrowed(old, field) }
        if old.isOptional, !field.isOptional, field.hasEvaluableDefault { return .fieldOrComputed(old.index, nil) }
        var replacement = replacement(of: old, field)
        // Objects of some classes may lose the attribute, and others receive it.
        let owners = Set(target.classes.filter { $0.fields.contains(field.index) }.map(\.name))
        let had = source.classes.filter { $0.fields.contains(old.index) && classNames[$0.name] != nil }.map(\.name)
        let keeping = had.filter { name in classNames[name].map(owners.contains) ?? false }
        let having = Set(classNames.filter { owners.contains($0.value) }.keys)
        let isNewlyRequired =
            target.requiresInSubentity(field.name)
            && (old.isOptional && !source.requiresInSubentity(old.name) || !having.isSubset(of: keeping))
        if isNewlyRequired, let value = field.defaultValue, !value.isNull { replacement = value }
        if !isLossless {
            // Values that only some classes of a hierarchy have are not converted.
            guard keeping.count == had.count, !isNewlyRequired else { return narrowed(old, field) }
            let misfit = field.defaultValue.flatMap { $0.isNull ? nil : $0 }
            let isNullAllowed = field.isOptional && !target.requiresInSubentity(field.name)
            return .fitting(old.index, replacingNullWith: replacement, misfitsWith: misfit ?? (isNullAllowed ? .null : nil))
        }
        if keeping.count < had.count { excluded[field.index] = Set(had).subtracting(keeping) }
        if isNewlyRequired, field.hasEvaluableDefault { return .fieldOrComputed(old.index, having) }
        if keeping.count < had.count || isNewlyRequired && !replacement.isNull {
            return .fieldOfClasses(old.index, having, replacingNullWith: replacement)
        }
        return .field(old.index, replacingNullWith: replacement)
    }

    /// Adds the problem of an attribute whose new type cannot represent every value.
    private mutating func narrowed(_ old: Field, _ field: Field) -> FieldSource {
        problems.append(
            MigrationReport.Finding(
                .refused, target.name, field.name,
                "\(target.name).\(field.name) changes from \(old.type.rawValue) to \(field.type.rawValue), which can lose values. Convert the values in a "
                    + "schema mapping."))
        return .constant(.null)
    }

    /// Determines the origin of to-one relationships and positions.
    mutating func resolve(_ origins: LinkOrigins) {
        for field in target.fields {
            guard let index = field.relationship else { continue }
            guard let origin = origins.origin(target.relationships[index], of: source.index), !origin.parts.isEmpty else { continue }
            guard origins.isCopied(origin), let own = origin.own, case .foreignKey(let old) = own.storage else {
                fields[field.index] = .link
                continue
            }
            fields[field.index] = .field(old, replacingNullWith: .null)
        }
        for field in target.fields {
            guard let along = field.positionAlong, case .foreignKey(let key) = target.relationships[along].storage else { continue }
            switch fields[key] {
            case .link: fields[field.index] = .position
            case .field(let old, _):
                guard let relationship = source.fields[old].relationship,
                    let position = source.fields.first(where: { $0.positionAlong == relationship })
                else { continue }
                fields[field.index] = .field(position.index, replacingNullWith: .null)
            default: break
            }
        }
    }

    /// Returns the names of the kept classes whose objects do not have a relationship of the new version.
    func classes(without relationship: Int) -> Set<String> {
        let owners = target.classes(with: relationship)
        return Set(classNames.filter { !owners.contains($0.value) }.keys)
    }

    /// Returns the names of the old classes whose objects have a relationship of the new version.
    func classes(having relationship: Int) -> Set<String> { Set(classNames.keys).subtracting(classes(without: relationship)) }

    /// Returns the value that replaces null in a field that becomes required.
    private mutating func replacement(of old: Field, _ field: Field) -> Value {
        guard old.isOptional, !field.isOptional else { return .null }
        if let value = field.defaultValue, !value.isNull { return value }
        requiredFields.append((old.index, field.name))
        return field.type.anyValue
    }

    /// Returns the origin of an attribute that the old version does not have.
    private func added(_ field: Field) -> FieldSource {
        // The fields of other classes are null.
        let classes = target.subentity(declaring: field.name).map { owner in Set(classNames.filter { owner.contains($0.value) }.keys) }
        if field.hasEvaluableDefault { return .computed(classes) }
        let value = field.defaultValue ?? .null
        if let classes { return value.isNull ? .constant(.null) : .constantOfClasses(value, classes) }
        if value.isNull, !field.isOptional { return .missing }
        return .constant(value)
    }

    /// Determines the new class of the objects of each old class.
    private mutating func matchClasses(_ className: String?, _ isDowngrade: Bool) {
        let classes = target.classes
        guard source.classifierField != nil else {
            if let name = className ?? classes.first.flatMap({ $0.isAbstract ? nil : $0.name }) { classNames[source.name] = name }
            return
        }
        let renamed = Renames(
            old: source.classes.filter { !$0.isRoot }.map { ($0.name, $0.originalName) },
            new: classes.filter { !$0.isRoot }.map { ($0.name, $0.originalName) }, isDowngrade: isDowngrade)
        for old in source.classes where !old.isAbstract {
            if let className, old.isRoot {
                classNames[old.name] = className
            } else if !old.isRoot, let name = renamed.newNames[old.name], let new = classes.first(where: { $0.name == name }) {
                if !new.isAbstract { classNames[old.name] = name }
            } else if let same = classes.first(where: { $0.name == old.name }) {
                // The root can become a subentity, and a subentity the root.
                if !same.isAbstract { classNames[old.name] = same.name }
            } else if old.isRoot, let root = classes.first, !root.isAbstract {
                classNames[old.name] = root.name
            }
        }
    }

    private mutating func matchClassifier() -> FieldSource {
        guard let old = source.classifierField else {
            guard let name = classNames[source.name] else {
                problems.append(
                    MigrationReport.Finding(
                        .refused, target.name, nil,
                        "\(target.name) becomes abstract, so its objects must become objects of an entity below it. Choose the entity in a schema mapping."
                    ))
                return .constant(.null)
            }
            return .constant(.text(name))
        }
        let keepsAll = source.classes.allSatisfy { $0.isAbstract || classNames[$0.name] == $0.name }
        return keepsAll ? .field(old, replacingNullWith: .null) : .classes(classNames)
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
            case .computed, .fieldOrComputed, .constantOfClasses, .fieldOfClasses, .fitting, .classes, .link, .position, .missing: false
            }
        }
    }

    /// The fields in the form that a backend requires; valid only if ``isCarried``.
    var carriedFields: [SchemaChange.FieldSource] {
        fields.map { part in
            switch part {
            case .constant(let value): .constant(value)
            case .field(let index, let replacement): .field(index, replacingNullWith: replacement)
            case .computed, .fieldOrComputed, .constantOfClasses, .fieldOfClasses, .fitting, .classes, .link, .position, .missing:
                .constant(.null)
            }
        }
    }

    /// The names of the classes whose objects are removed.
    var removedClasses: [String] {
        guard source.classifierField != nil else { return [] }
        return source.classes.filter { !$0.isAbstract && classNames[$0.name] == nil }.map(\.name)
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
        for part in target.classes.dropFirst() where !classNames.contains(where: { $0.key == part.name && $0.value == part.name }) {
            if let (old, _) = classNames.first(where: { $0.value == part.name && $0.key != source.name }) {
                changes.append("entity \(old) is renamed \(part.name)")
            } else if !before.contains(part.name) {
                changes.append("the entity \(part.name) is added")
            }
        }
        changes += indexChanges
    }
}

/// The old names of the properties of an entity.
private struct OldPropertyNames {
    private let names: [String: String]

    /// - Throws: `invalidSchema` if two properties have one origin, or for an unknown name in `renaming`.
    init(_ source: Entity, _ target: Entity, _ renaming: [String: String], isDowngrade: Bool) throws {
        let (before, after) = (source.description.properties, target.description.properties)
        func unknown(_ name: String, _ entity: Entity, _ version: String) -> StoreError {
            let known = entity.description.properties.map(\.name).filter { $0 != EntityHierarchy.classifier }.joined(separator: ", ")
            return StoreError(
                .invalidSchema,
                "The mapping of \(source.name) to \(target.name) renames \"\(name)\", which \(entity.name) does not have in the \(version) version; its properties "
                    + "are \(known).", entity: entity.name, attribute: name)
        }
        for (from, to) in renaming.sorted(by: { $0.key < $1.key }) {
            guard before.contains(where: { $0.name == from }) else { throw unknown(from, source, "old") }
            guard after.contains(where: { $0.name == to }) else { throw unknown(to, target, "new") }
        }
        let renames = Renames(
            old: before.map { ($0.name, $0.originalName) }, new: after.map { ($0.name, $0.originalName) }, explicit: renaming,
            isDowngrade: isDowngrade)
        if let (first, second, origin) = renames.conflict {
            throw StoreError(
                .invalidSchema,
                "\(target.name).\(first) and \(target.name).\(second) both continue \(source.name).\(origin). Remove one of the declarations.",
                entity: target.name, attribute: second)
        }
        names = renames.oldNames
    }

    /// Returns the name of a property in the old version; `nil` if it is new.
    func old(_ name: String) -> String? { names[name] }
}

extension PropertyDescription {
    var isRelationship: Bool {
        if case .relationship = self { true } else { false }
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
    /// Returns whether a subentity declares a property that must have a value.
    func requiresInSubentity(_ name: String) -> Bool {
        description.hierarchy?.subentities.contains { $0.required.contains(name) } ?? false
    }

    /// Returns the names of the subentity that declares a property and of all its subentities; `nil` if the root declares it.
    fileprivate func subentity(declaring property: String) -> Set<String>? {
        guard let field = field(named: property)?.index, let owner = classes.dropFirst().first(where: { $0.ownFields.contains(field) })
        else { return nil }
        return Set(classes[owner.descendants].map(\.name))
    }
}
