import PolyStoreBackend

/// The classes of an entity that represents a class hierarchy, with their properties.
final class EntityFamily: Sendable {
    struct Kind: Sendable {
        let type: any Model.Type
        let name: String
        let isAbstract: Bool
        /// A Boolean value that indicates whether the class has no subclasses.
        let isLeaf: Bool
        /// The attributes that must be assigned before a new object is committed.
        let required: [Int]
        let relationships: [Relationship]
        /// The attributes and to-one relationships, including inherited ones.
        let fields: FieldMask
        /// The entity names of the class's objects: its own, unless it is abstract, and those of its subclasses.
        let concreteNames: [String]
    }

    private let entity: Entity
    /// The field with the entity name of an object.
    let classifier: Int
    /// The classes in depth-first order, starting with the root.
    let kinds: [Kind]
    /// The names as UTF-8 bytes.
    private let names: [[UInt8]]
    private let byType: [ObjectIdentifier: Int]

    /// - Returns: nil for an entity without a class hierarchy.
    init?(_ entity: Entity, _ type: any Model.Type) {
        guard let hierarchy = type._$hierarchy, let classifier = entity.field(named: EntityHierarchy.classifier) else { return nil }
        self.entity = entity
        self.classifier = classifier.ordinal
        var kinds: [Kind] = []
        for member in hierarchy.members {
            let parent = member.parent.map { kinds[$0] }
            let required = member.properties.compactMap { property -> Int? in
                guard case .attribute(let attribute) = property, !attribute.isOptional, attribute.defaultValue == nil else { return nil }
                return entity.field(named: attribute.name)?.ordinal
            }
            var fields = parent?.fields ?? FieldMask()
            for property in member.properties {
                if let field = entity.field(named: property.name) { fields.insert(field.ordinal) }
            }
            let concrete = hierarchy.members[member.index..<member.end].filter { !$0.isAbstract }
            kinds.append(
                Kind(
                    type: member.type, name: member.name, isAbstract: member.isAbstract, isLeaf: member.isLeaf,
                    required: (parent?.required ?? []) + required,
                    relationships: (parent?.relationships ?? [])
                        + member.properties.compactMap { entity.relationship(named: $0.name) },
                    fields: fields, concreteNames: concrete.map { $0.name }))
        }
        self.kinds = kinds
        names = kinds.map { Array($0.name.utf8) }
        byType = Dictionary(uniqueKeysWithValues: kinds.indices.map { (ObjectIdentifier(kinds[$0].type), $0) })
    }

    func kind(_ type: any Model.Type) -> Kind? { byType[ObjectIdentifier(type)].map { kinds[$0] } }

    /// Returns the class of an object. It is always one of `kinds`, because objects are created from them.
    func kind(of object: some Model) -> Kind { kind(Swift.type(of: object as any Model)) ?? kinds[0] }

    /// Returns the class of a record.
    /// - Throws: `corrupt` if the record names an abstract entity, or one outside of the hierarchy.
    func kind(_ record: RecordView) throws -> Kind {
        guard !record.isNull(classifier) else {
            throw StoreError(undecodable: classifier, "The record does not say which entity of the hierarchy it is of.")
        }
        let bytes = record.bytes(classifier)
        for (index, name) in names.enumerated() where name.count == bytes.count && name.elementsEqual(bytes) && !kinds[index].isAbstract {
            return kinds[index]
        }
        throw StoreError(
            undecodable: classifier,
            "The record is of \"\(String(decoding: bytes, as: UTF8.self))\", and objects of \(entity.name) are \(kinds[0].concreteNames.joined(separator: ", "))."
        )
    }

    /// Returns whether an object is of the class with an entity name, or of a subclass.
    func isObject(_ object: some Model, of name: String) -> Bool {
        guard let named = kinds.first(where: { $0.name == name }) else { return false }
        return named.concreteNames.contains(kind(of: object).name)
    }

    /// Returns the predicate for objects of a class, or nil if all objects match.
    func condition(_ type: any Model.Type, includesSubentities: Bool) -> QueryPredicate? {
        guard let kind = kind(type) else { return QueryPredicate.none }
        if includesSubentities, type == kinds[0].type { return nil }
        let names = includesSubentities ? kind.concreteNames : kind.isAbstract ? [] : [kind.name]
        let field = FieldReference(entity.fields[classifier])
        guard names.count != 1 else { return .compare(field, .equal, .text(names[0])) }
        return names.isEmpty ? QueryPredicate.none : .oneOf(field, names.map { .text($0) })
    }
}
