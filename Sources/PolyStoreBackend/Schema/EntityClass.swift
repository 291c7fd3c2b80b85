/// A class of the objects of an entity, with its properties by index. An entity that holds a hierarchy has several classes, any other entity has one.
///
/// A store keeps the objects of all classes of a hierarchy as one entity, so backends do not need this description.
public struct EntityClass: Sendable, Hashable {
    /// The index in ``Entity/classes``.
    public let index: Int
    /// The name of the class's own entity.
    public let name: String
    /// The name in an earlier schema version, if the entity was renamed.
    public let originalName: String?
    /// A Boolean value that indicates whether only subclasses have objects.
    public let isAbstract: Bool
    /// The index of the superclass; `nil` for the root.
    public let parent: Int?
    /// The indexes of the class and of all its direct and indirect subclasses.
    public fileprivate(set) var descendants: Range<Int>
    /// The names of the entities that the class's objects have: its own, unless it is abstract, and those of its subclasses.
    public fileprivate(set) var concreteNames: [String]
    /// The indexes of the fields that the class declares: attributes and to-one relationships.
    public fileprivate(set) var ownFields = FieldMask()
    /// The indexes of the declared and inherited fields.
    public fileprivate(set) var fields = FieldMask()
    /// The indexes of the declared and inherited relationships.
    public fileprivate(set) var relationships: [Int] = []
    /// The indexes of the declared and inherited attributes that are neither optional nor have a default value.
    public fileprivate(set) var required: [Int] = []

    fileprivate init(index: Int, name: String, originalName: String?, isAbstract: Bool, parent: EntityClass?) {
        self.index = index
        self.name = name
        self.originalName = originalName
        self.isAbstract = isAbstract
        self.parent = parent?.index
        descendants = index..<(index + 1)
        concreteNames = isAbstract ? [] : [name]
        guard let parent else { return }
        (fields, relationships, required) = (parent.fields, parent.relationships, parent.required)
    }

    /// A Boolean value that indicates whether all other classes of the entity inherit from the class.
    public var isRoot: Bool { parent == nil }
    /// A Boolean value that indicates whether the class has no subclasses.
    public var isLeaf: Bool { descendants.count == 1 }
}

extension EntityDescription {
    /// The index of the field that holds the name of an object's own entity; `nil` for an entity that holds no hierarchy.
    package var classifierField: Int? { hierarchy == nil ? nil : PropertyIndexes(self).field(EntityHierarchy.classifier) }

    /// The classes of the objects, depth first, the root first.
    package var classes: [EntityClass] {
        let indexes = PropertyIndexes(self)
        var root = EntityClass(index: 0, name: name, originalName: originalName, isAbstract: hierarchy?.isAbstract ?? false, parent: nil)
        indexes.add(hierarchy?.properties ?? properties.map(\.name), to: &root) { !$0.isOptional }
        var classes = [root]
        for part in hierarchy?.subentities ?? [] {
            let parent = classes.last { $0.name == part.parent } ?? root
            var next = EntityClass(
                index: classes.count, name: part.name, originalName: part.originalName, isAbstract: part.isAbstract, parent: parent)
            // The attributes of subclasses are optional in the combined entity.
            indexes.add(part.properties, to: &next) { part.required.contains($0.name) }
            classes.append(next)
        }
        for next in classes {
            var ancestor = next.parent
            while let index = ancestor {
                classes[index].descendants = index..<(next.index + 1)
                if !next.isAbstract { classes[index].concreteNames.append(next.name) }
                ancestor = classes[index].parent
            }
        }
        return classes
    }
}

/// The field and relationship indexes of the properties of an entity.
private struct PropertyIndexes {
    private var found: [String: (property: PropertyDescription, field: Int?, relationship: Int?)] = [:]

    init(_ entity: EntityDescription) {
        var (fields, relationships) = (0, 0)
        for property in entity.properties {
            var (field, relationship): (Int?, Int?)
            if case .relationship(let description) = property {
                relationship = relationships
                relationships += 1
                if !description.isToMany { field = fields }
            } else {
                field = fields
            }
            if field != nil { fields += 1 }
            found[property.name] = (property, field, relationship)
        }
    }

    func field(_ name: String) -> Int? { found[name]?.field }

    /// Adds the properties that a class declares.
    func add(_ names: [String], to next: inout EntityClass, isRequired: (AttributeDescription) -> Bool) {
        for name in names {
            guard let (property, field, relationship) = found[name] else { continue }
            if let field {
                next.ownFields.insert(field)
                next.fields.insert(field)
            }
            if let relationship { next.relationships.append(relationship) }
            if case .attribute(let attribute) = property, let field, attribute.defaultValue == nil, isRequired(attribute) {
                next.required.append(field)
            }
        }
    }
}
