import PolyStoreBackend
import PolyStoreKernel

/// A rule that only the class of an entity can apply, and that is therefore not applied to a ``DynamicObject``.
///
/// A schema in a store does not record whether a class overrides `validate()` or `validateForDelete()`; neither is run.
public struct UncheckedRule: Sendable, Hashable, CustomStringConvertible {
    /// A kind of rules.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// The default is computed by the class, so that a new object needs a value.
        case computedDefault
        /// The text of JSON must be one of a Swift type.
        case codableType
        /// The targets must be of a subentity that the schema does not name.
        case subentityOfTargets
    }

    /// The name of the entity.
    public let entity: String
    /// The name of the attribute or relationship.
    public let property: String
    /// The kind of the rule.
    public let kind: Kind

    /// The rule as a sentence without a period.
    public var description: String {
        switch kind {
        case .computedDefault: "\(entity).\(property) has a default that only its class can compute"
        case .codableType: "\(entity).\(property) is JSON of a type that only its class knows"
        case .subentityOfTargets: "\(entity).\(property) can be limited to a subentity that only its class knows"
        }
    }
}

extension ResolvedSchema {
    /// The rules that only classes can apply, in the order of the schema.
    fileprivate var uncheckedRules: [UncheckedRule] {
        entities.flatMap { entity in
            entity.description.properties.flatMap { property in
                var kinds: [UncheckedRule.Kind] = []
                if let relationship = entity.relationship(named: property.name) {
                    if relationship.inverse == nil, entities[relationship.destination].classifierField != nil {
                        kinds.append(.subentityOfTargets)
                    }
                } else if let field = entity.field(named: property.name) {
                    if field.hasComputedDefault { kinds.append(.computedDefault) }
                    if field.type == .json { kinds.append(.codableType) }
                }
                return kinds.map { UncheckedRule(entity: entity.name, property: property.name, kind: $0) }
            }
        }
    }
}

extension DataStack {
    /// The rules that only classes can apply, of all stores that are open; empty for stacks with classes. They are also logged when a store is opened for writing.
    public var uncheckedRules: [UncheckedRule] {
        let table = core.table.withLock { $0 }
        return table.openStores.flatMap { store in
            table.entries.contains { $0.store === store && $0.type is any DynamicModel.Type } ? store.schema.uncheckedRules : []
        }
    }
}
