import PolyStoreBackend
import PolyStoreKernel

/// A rule that only the class of an entity can apply, and that is therefore not applied to a ``DynamicObject``.
///
/// A schema in a store does not tell whether a class overrides `validate()` or `validateForDelete()`; neither is run.
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

extension SchemaDescription {
    /// The rules that only classes can apply, in the order of the schema; see ``UncheckedRule``.
    public var uncheckedRules: [UncheckedRule] {
        let hierarchies = Set(entities.filter { $0.hierarchy != nil }.map(\.name))
        return entities.flatMap { entity in
            entity.properties.flatMap { property in
                var kinds: [UncheckedRule.Kind] = []
                switch property {
                case .attribute(let attribute):
                    if attribute.defaultExpression == .computed { kinds.append(.computedDefault) }
                    if attribute.type == .json { kinds.append(.codableType) }
                case .relationship(let relationship):
                    if relationship.inverse == nil, hierarchies.contains(relationship.destination) { kinds.append(.subentityOfTargets) }
                }
                return kinds.map { UncheckedRule(entity: entity.name, property: property.name, kind: $0) }
            }
        }
    }
}

extension DataStack {
    /// The rules that only classes can apply, of all stores that are open; empty for stacks with classes. They are also logged when a store is opened for writing.
    public var uncheckedRules: [UncheckedRule] {
        core.table.withLock { $0 }.openStores.flatMap { store in
            isWithoutClasses(store) ? store.schema.description.uncheckedRules : []
        }
    }

    private func isWithoutClasses(_ store: PersistentStore) -> Bool {
        core.table.withLock { $0 }.entries.contains { $0.store === store && $0.type is any DynamicModel.Type }
    }
}
