import PolyStoreBackend
import PolyStoreKernel

/// Copies records of an entity of the old version to an entity of the new one.
struct RecordCopier {
    private enum Source {
        case null
        case constant(Value)
        case constantOfClasses(Value, Set<String>)
        /// A field with the same physical type, and the value that replaces null.
        case same(Int, Value)
        case converted(Int, AttributeType, Value)
        /// A field of the given type, the value that replaces null, and the one that replaces values that do not fit.
        case fitting(Int, AttributeType, Value, Value?)
        /// The row id of a target, and the offset to add to it.
        case reference(Int, Int64)
        case classes([String: String])
        /// The value of the default expression of the field, for records of some classes of a hierarchy or of all.
        case computed(Set<String>?)
        /// The value of a field of the given type, for records of some classes of a hierarchy or of all; the default expression is evaluated for null.
        case fieldOrComputed(Int, AttributeType, Set<String>?)
        /// A field in the objects of some classes.
        case ofClasses(Int, AttributeType, Set<String>, Value)
        case link(Relationship)
    }

    let target: Entity
    /// The offset to add to the row id of each object.
    let offset: Int64
    private let sources: [Source]
    /// The field of the old entity that contains the class name, if objects of some classes are removed.
    private let classifier: Int?
    private let keptClasses: Set<String>
    private let missing: Field?

    /// - Parameter offset: Returns the offset to add to the row ids of the objects of an old entity that become objects of a new one, by entity index.
    init(_ match: EntityMatch, offset: (Int, Int) -> Int64) {
        target = match.target
        let (old, new) = (match.source, match.target)
        self.offset = offset(old.index, new.index)
        sources = zip(match.fields, new.fields).map { part, field in
            switch part {
            case .missing: return .null
            case .constant(let value): return value.isNull ? .null : .constant(value)
            case .constantOfClasses(let value, let classes): return .constantOfClasses(value, classes)
            case .classes(let names): return .classes(names)
            case .computed(let classes): return .computed(classes)
            case .fieldOrComputed(let index, let classes): return .fieldOrComputed(index, old.fields[index].type, classes)
            case .fieldOfClasses(let index, let classes, let replacement):
                return .ofClasses(index, old.fields[index].type, classes, replacement)
            case .fitting(let index, let replacement, let misfit): return .fitting(index, old.fields[index].type, replacement, misfit)
            case .link: return field.relationship.map { .link(new.relationships[$0]) } ?? .null
            case .position: return .null
            case .field(let index, let replacement):
                let before = old.fields[index]
                if let relationship = before.relationship, let follower = field.relationship {
                    return .reference(
                        index, offset(old.relationships[relationship].destination, new.relationships[follower].destination))
                }
                if field.type.contains(valuesOf: before.type) { return .same(index, replacement) }
                return .converted(index, before.type, replacement)
            }
        }
        missing = zip(match.fields, new.fields).first { $0.0 == .missing }?.1
        let removed = match.removedClasses
        classifier = removed.isEmpty ? nil : old.classifierField
        keptClasses = Set(old.classes.map(\.name)).subtracting(removed)
    }

    /// The required attribute that has no value in new objects; `nil` if there is none.
    var missingAttribute: Field? { missing }

    /// Returns whether the new version keeps an object.
    func keeps(_ record: RecordView) -> Bool {
        guard let classifier else { return true }
        return keptClasses.contains(record.string(classifier))
    }

    /// The to-one relationships whose targets are determined for each object.
    var links: [Relationship] {
        sources.compactMap { if case .link(let relationship) = $0 { relationship } else { nil } }
    }

    /// Writes the new record.
    /// - Parameter links: The row ids of the targets of ``links``, by relationship index.
    func copy(_ record: RecordView, _ old: Entity, links: [Int: Int64] = [:], into builder: inout RecordBuilder) throws {
        for (field, source) in zip(target.fields, sources) {
            if case .same(let index, let replacement) = source, !record.isNull(index) || replacement.isNull {
                if !record.isNull(index) { Self.copy(record, old.fields[index], field, &builder) }
                continue
            }
            let value = try value(source, record, old, field, links)
            if !value.isNull { try builder.set(field, value) }
        }
    }

    /// Returns the values of the new record, by field index.
    func values(_ record: RecordView, _ old: Entity, links: [Int: Int64]) throws -> [Value] {
        try zip(target.fields, sources).map { try value($1, record, old, $0, links) }
    }

    private static func copy(_ record: RecordView, _ old: Field, _ field: Field, _ builder: inout RecordBuilder) {
        switch field.type.physical {
        case .integer: builder.setInteger(field.index, record.integer(old.index))
        case .real: builder.setReal(field.index, record.real(old.index))
        case .text, .blob: builder.setBytes(field.index, record.bytes(old.index))
        }
    }

    private func value(
        _ source: Source, _ record: RecordView, _ old: Entity, _ field: Field, _ links: [Int: Int64]
    ) throws -> Value {
        switch source {
        case .null: return .null
        case .constant(let value): return value
        case .constantOfClasses(let value, let classes):
            return classes.contains(old.classifierField.map { record.string($0) } ?? old.name) ? value : .null
        case .same(let index, let replacement):
            let value = record.value(old.fields[index])
            return value.isNull ? replacement : value
        case .converted(let index, let type, let replacement):
            let value = record.value(old.fields[index])
            return value.isNull ? replacement : try ValueConversion.convert(value, from: type, to: field.type)
        case .fitting(let index, let type, let replacement, let misfit):
            let value = record.value(old.fields[index])
            if value.isNull { return replacement }
            if let fitting = ValueConversion.fitting(value, from: type, to: field.type)?.value ?? misfit { return fitting }
            return try ValueConversion.convert(value, from: type, to: field.type)
        case .reference(let index, let offset):
            guard !record.isNull(index) else { return .null }
            return .integer(record.integer64(index) &+ offset)
        case .computed(let classes):
            if let classes, !classes.contains(old.classifierField.map({ record.string($0) }) ?? old.name) { return .null }
            return field.defaultValueOfObject()
        case .fieldOrComputed(let index, let type, let classes):
            if let classes, !classes.contains(old.classifierField.map({ record.string($0) }) ?? old.name) { return .null }
            let value = record.value(old.fields[index])
            return value.isNull ? field.defaultValueOfObject() : try ValueConversion.convert(value, from: type, to: field.type)
        case .classes(let names):
            guard let classifier = old.classifierField else { return .text(target.name) }
            return names[record.string(classifier)].map { .text($0) } ?? .null
        case .ofClasses(let index, let type, let classes, let replacement):
            let name = old.classifierField.map { record.string($0) } ?? old.name
            guard classes.contains(name) else { return .null }
            let value = record.value(old.fields[index])
            return value.isNull ? replacement : try ValueConversion.convert(value, from: type, to: field.type)
        case .link(let relationship): return links[relationship.index].map { .integer($0) } ?? .null
        }
    }
}
