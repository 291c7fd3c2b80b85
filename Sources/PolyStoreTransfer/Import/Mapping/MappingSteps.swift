public import PolyStoreFormats
import PolyStoreKernel

/// The properties of a mapping, in order.
public struct MappingSteps<Object: Model, Source>: Sendable {
    struct Step: Sendable {
        /// The field or property of the source.
        let field: String
        /// A readable form of the target: `population`, `country → Country`.
        let target: String
        let isRequired: Bool
        let apply: @Sendable (Source, Object, Transaction, ConversionOptions) throws -> Void
    }

    var steps: [Step] = []
    var uniqueField: String?
    var options = ConversionOptions.default

    /// The stored name of a property.
    static func storedName(_ path: PartialKeyPath<Object>) -> String {
        Object._$properties.knownName(path) ?? "\(path)"
    }
}

/// A mapping that is built by adding properties.
public protocol MappingBuilder<Object, Source>: ObjectMapping, CustomStringConvertible {
    /// The class of the imported objects.
    associatedtype Object: Model
    /// The properties that the mapping contains.
    var _$steps: MappingSteps<Object, Source> { get set }
}

extension MappingBuilder {
    func adding(
        _ field: String, _ target: String, isRequired: Bool,
        _ apply: @escaping @Sendable (Source, Object, Transaction, ConversionOptions) throws -> Void
    ) -> Self {
        var copy = self
        copy._$steps.steps.append(.init(field: field, target: target, isRequired: isRequired, apply: apply))
        return copy
    }

    public func _$apply(_ source: Source, to object: any Model, in transaction: Transaction) throws {
        guard let object = object as? Object else { return }
        let options = _$steps.options
        for step in _$steps.steps { try step.apply(source, object, transaction, options) }
    }

    public var _$uniqueField: String? { _$steps.uniqueField }
    public var _$options: ConversionOptions { _$steps.options }

    /// The names of the source's fields that the mapping reads, in order.
    public var fields: [String] { ([_$steps.uniqueField] + _$steps.steps.map(\.field)).compactMap { $0 } }

    /// The names of the fields that every source must have.
    public var requiredFields: [String] { ([_$steps.uniqueField] + _$steps.steps.map { $0.isRequired ? $0.field : nil }).compactMap { $0 } }

    /// One line for each property: `population ← population`.
    public var description: String {
        let id = _$steps.uniqueField.map { ["unique id ← \($0)"] } ?? []
        return (id + _$steps.steps.map { "\($0.target) ← \($0.field)\($0.isRequired ? ", required" : "")" }).joined(separator: "\n")
    }

    /// Returns the mapping with a custom step, for cases that the other methods do not cover.
    ///
    ///     .step("geometry") { record, city, transaction in … }
    ///
    /// - Parameters:
    ///   - name: The name of the step in the mapping's description.
    ///   - body: Changes the object of a source. Called for each source, in the order of the steps.
    public func step(_ name: String, _ body: @escaping @Sendable (Source, Object, Transaction) throws -> Void) -> Self {
        adding(name, name, isRequired: false) { source, object, transaction, _ in try body(source, object, transaction) }
    }
}
