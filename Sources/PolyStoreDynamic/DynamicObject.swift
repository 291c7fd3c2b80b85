import Foundation
import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreKernel
import PolyStoreObservation

/// An object of a store that is opened with the schema that it keeps; it has no class of its own.
///
///     let stack = try DataStack(opening: "sqlite:company.sqlite")
///     for person in try stack.view.fetchAll(EntityQuery("Person").where("age > 30")) {
///         print(try person.value("name") ?? "–", try person.object("department")?.value("title") ?? "–")
///     }
///
/// It belongs to one context, as an object with a class does: it has one identity in it, reads its values when they are first needed, and is changed only in a transaction. Every rule
/// that the schema holds applies: types and ranges, required values, uniqueness, rules of attributes, inverses, delete rules, counts. What only the class can do is not done:
/// its `validate()`, defaults that are computed, and the check that a text of JSON is a value of its Swift type; see ``UncheckedRule``.
public class DynamicObject {
    init() {}

    /// The same object with the requirements of the kernel.
    var model: any DynamicModel { preconditionFailure("overridden") }
}

/// The class of the objects of one entity.
protocol DynamicModel: DynamicObject, HierarchyObject {
    static var entity: Entity { get }
    /// The values of attributes, by field index. Those of other fields are null.
    var values: [Value] { get set }
    /// The row ids of the targets of to-one relationships, by relationship index; 0 for none.
    var targets: [Int64] { get set }
}

final class ObjectOfEntity<Number: EntityNumber>: DynamicObject, DynamicModel {
    @exclusivity(unchecked) var _$state: ModelState
    @exclusivity(unchecked) var values: [Value]
    @exclusivity(unchecked) var targets: [Int64]

    override var model: any DynamicModel { self }

    static var entity: Entity { KnownEntities.entity(Number.number) }

    init(_$state state: consuming ModelState) {
        let entity = Self.entity
        values = entity.fields.map { $0.relationship == nil && !$0.isHidden ? $0.initialValue : .null }
        targets = entity.relationships.map { _ in 0 }
        _$state = state
        super.init()
    }

    init(_$state state: consuming ModelState, decoding record: RecordView) throws {
        (values, targets) = try state.context.entry(state.entityIndex).entity.decoded(record)
        _$state = state
        super.init()
    }

    func _$load(_ record: RecordView) throws { (values, targets) = try entry.entity.decoded(record) }

    func _$encode(into builder: inout RecordBuilder) throws {
        for field in entry.entity.fields where !field.isHidden {
            if let relationship = field.relationship {
                ToOne(rowID: targets[relationship]).encode(into: &builder, field.index)
            } else {
                try builder.set(field, values[field.index])
            }
        }
    }

    func _$toOne(_ relationship: Int) -> ToOne { ToOne(rowID: targets[relationship]) }
    func _$setToOne(_ relationship: Int, _ target: ToOne) { targets[relationship] = target.rowID }

    func validate() throws { try checkDefaults() }

    static var _$entityName: String { entity.name }
    static var _$entity: EntityDescription { entity.description }
    static var _$properties: ModelProperties { KnownEntities.properties(self) }
}

extension Field {
    /// A Boolean value that indicates whether only the class knows the default. Stores of early releases keep one value of `UUID()` and `Date()` without the expression.
    var hasComputedDefault: Bool {
        defaultExpression == .computed || defaultExpression == nil && defaultValue != nil && (type == .uuid || type == .date)
    }

    /// The value of a new object.
    fileprivate var initialValue: Value {
        if hasComputedDefault { return .null }
        return switch defaultExpression {
        case .uuid?: UUID().attributeValue
        case .date?: Date().attributeValue
        case .computed?, nil: defaultValue ?? .null
        }
    }
}

extension Entity {
    /// Returns the values of attributes by field, and the targets of to-one relationships.
    fileprivate func decoded(_ record: RecordView) throws -> (values: [Value], targets: [Int64]) {
        var targets = [Int64](repeating: 0, count: relationships.count)
        let values: [Value] = fields.map { field in
            guard !field.isHidden else { return .null }
            guard let relationship = field.relationship else { return record.value(field) }
            targets[relationship] = ToOne(record, field.index).rowID
            return .null
        }
        return (values, targets)
    }
}
