public import Foundation
import PolyStoreAttributes
import PolyStoreBackend
import PolyStoreConditions
import PolyStoreQuery

/// The changes that ``Transaction/batchUpdate(_:set:)-(S,_)`` applies to each object: constants, or values computed from the current ones.
///
///     try transaction.batchUpdate(From<Person>().where(\.age > 30)) {
///         $0.set(\.nickname, to: nil)
///         $0.increment(\.age, by: 1)
///         $0.update(\.email) { $0.lowercased() }
///     }
///
/// The steps are applied in order, and each step sees the results of the preceding ones.
public struct BatchChanges<T: Model> {
    /// The assignment of one field.
    struct Step {
        let name: String
        /// A Boolean value that indicates whether the new value depends on the object.
        let reads: Bool
        let value: (Subject, Field) throws -> Value
    }

    /// The object that is changed.
    struct Subject {
        let record: RecordView
        let rowID: Int64
        let context: Context
        let entry: StoreEntity
    }

    /// The values that are computed by names. If one depends on other objects, all are computed before the first one is assigned.
    private(set) var operands: [Operand] = []
    private(set) var steps: [Step] = []
    /// The error of an invalid step; thrown by the update.
    private(set) var error: (any Error)?

    init() {}

    private mutating func add(
        _ path: PartialKeyPath<T>, reads: Bool = true, _ value: @escaping (RecordView, Field) throws -> Value
    ) {
        do {
            steps.append(
                Step(name: try T._$properties.field(path).name, reads: reads) { subject, field in try value(subject.record, field) })
        } catch { self.error = self.error ?? error }
    }

    private mutating func add(_ path: PartialKeyPath<T>, constant: Value) { add(path, reads: false) { _, _ in constant } }

    // MARK: Constants

    /// Sets an attribute.
    public mutating func set<V: AttributeValue>(_ path: KeyPath<T, V>, to value: V) { add(path, constant: value.attributeValue) }

    /// Sets an enum with raw values.
    public mutating func set<V: RawRepresentable>(_ path: KeyPath<T, V>, to value: V) where V.RawValue: AttributeValue {
        add(path, constant: value.rawValue.attributeValue)
    }

    /// Sets an optional enum with raw values.
    @_disfavoredOverload
    public mutating func set<V: RawRepresentable>(_ path: KeyPath<T, V?>, to value: V?) where V.RawValue: AttributeValue {
        add(path, constant: value?.rawValue.attributeValue ?? .null)
    }

    /// Sets an attribute that is stored as JSON.
    @_disfavoredOverload
    public mutating func set<V: Codable>(_ path: KeyPath<T, V>, to value: V) {
        do { add(path, constant: .text(String(decoding: try JSONCoding<V>.json(value), as: UTF8.self))) } catch {
            self.error = self.error ?? error
        }
    }

    /// Sets a to-one relationship to the object with an id, or to nil.
    public mutating func set<D: Model>(_ path: KeyPath<T, D?>, to target: ObjectID<D>?) {
        do {
            let name = try T._$properties.field(path).name
            steps.append(
                Step(name: name, reads: false) { subject, _ in
                    guard let target else { return .null }
                    guard target.isHeld(by: subject.entry.store) else { throw Self.foreign("\(target)", name, subject.entry) }
                    return .integer(target.rowID)
                })
        } catch { self.error = self.error ?? error }
    }

    private static func foreign(_ target: String, _ name: String, _ entry: StoreEntity) -> StoreError {
        StoreError(
            .misuse,
            "\(entry.entity.name).\(name) cannot lead to \(target), which is held by another store than \(entry.store.location): a relationship stays within "
                + "one store.",
            entity: entry.entity.name, attribute: name)
    }

    /// Sets a to-one relationship to an object, or to nil.
    @_disfavoredOverload
    public mutating func set<D: Model>(_ path: KeyPath<T, D?>, to target: D?) { set(path, to: target?.objectID) }

    /// Sets an attribute or a to-one relationship, given by name, to a constant of a comparable type or to nil.
    public mutating func set(_ name: String, to value: (any QueryArgument)?) {
        let equality = Where<T>(name, isEqualTo: value)
        steps.append(
            Step(name: name, reads: false) { subject, field in
                let entry = subject.entry
                if case .object(let target, let key, let store?)? = value?.operand, store != entry.store.storeID {
                    throw Self.foreign("\(target) \(key)", name, entry)
                }
                if case .constant(let constant, _)? = value?.operand,
                    let fault = entry.unknownCase(constant, of: FieldReference(field))
                {
                    throw StoreError(.invalidValue, fault, entity: entry.entity.name, attribute: name)
                }
                if let (fieldIndex, value) = try equality.predicate(subject.context, entry).equality(of: entry.entity),
                    fieldIndex == field.index
                {
                    return value
                }
                throw StoreError(
                    .invalidValue, "\(entry.entity.name).\(name) cannot be \(value.map { "\($0.operand)" } ?? "nil").",
                    entity: entry.entity.name, attribute: name)
            })
    }

    // MARK: Values of the object

    /// Sets an attribute to the value of another one.
    public mutating func set<V: AttributeValue>(_ path: KeyPath<T, V>, to other: KeyPath<T, V>) {
        do {
            let source = try T._$properties.field(other).name
            steps.append(
                Step(name: try T._$properties.field(path).name, reads: true) { subject, _ in
                    subject.record.value(try Self.field(source, subject.entry))
                })
        } catch { self.error = self.error ?? error }
    }

    /// Sets a property to a value that is computed from the object by names.
    package mutating func set(_ path: PartialKeyPath<T>, computing operand: () throws -> Operand) {
        do {
            let operand = try operand()
            operands.append(operand)
            let isOptional = type(of: path).valueType is any OptionalType.Type
            var values: (entityIndex: Int32, type: AttributeType, values: SortValues)?
            steps.append(
                Step(name: try T._$properties.field(path).name, reads: true) { subject, field in
                    let entry = subject.entry
                    if values?.entityIndex != entry.entityIndex {
                        let expression = try operand.resolved(for: entry.entity, in: entry.store.schema).expression
                        let related = expression.needsTransaction ? try subject.context.related(entry.store, FetchOptions()) : nil
                        values = (entry.entityIndex, expression.type, SortValues([expression], related))
                    }
                    let value = try values?.values.values(subject.rowID, subject.record).first ?? .null
                    if value.isNull, !isOptional {
                        throw StoreError(.invalidValue, "\(operand) is null, and the property is not optional. Give a value with ??.")
                    }
                    guard case .integer(let integer) = value else { return value }
                    let isUnsigned = values?.type == .uint64
                    if field.type.physical == .real { return .real(isUnsigned ? Double(UInt64(bitPattern: integer)) : Double(integer)) }
                    // The bit pattern of an unsigned number is a negative one.
                    if isUnsigned != (field.type == .uint64), integer < 0 {
                        let number = isUnsigned ? "\(UInt64(bitPattern: integer))" : "\(integer)"
                        throw StoreError(.invalidValue, "\(operand) is \(number), which does not fit \(field.type).")
                    }
                    return value
                })
        } catch { self.error = self.error ?? error }
    }

    /// Sets an attribute to the result of a function of its current value. An error that the function throws cancels the update.
    public mutating func update<V: AttributeValue>(_ path: KeyPath<T, V>, _ change: @escaping (V) throws -> V) {
        add(path) { record, field in try change(V.decodeAttribute(record, field.index)).attributeValue }
    }

    /// Adds an amount, which may be negative, to an integer attribute. Overflow cancels the update with `invalidValue`.
    public mutating func increment<V: AttributeValue & FixedWidthInteger>(_ path: KeyPath<T, V>, by amount: V) {
        update(path) { try Self.sum($0, amount) }
    }

    /// Adds an amount to an optional integer attribute. nil remains nil.
    public mutating func increment<V: AttributeValue & FixedWidthInteger>(_ path: KeyPath<T, V?>, by amount: V) {
        update(path) { try $0.map { try Self.sum($0, amount) } }
    }

    /// Adds an amount to a floating-point attribute.
    public mutating func increment<V: AttributeValue & BinaryFloatingPoint>(_ path: KeyPath<T, V>, by amount: V) {
        update(path) { $0 + amount }
    }
    /// Adds an amount to an optional floating-point attribute. nil remains nil.
    public mutating func increment<V: AttributeValue & BinaryFloatingPoint>(_ path: KeyPath<T, V?>, by amount: V) {
        update(path) { $0.map { $0 + amount } }
    }

    /// Adds an amount to a decimal attribute.
    public mutating func increment(_ path: KeyPath<T, Decimal>, by amount: Decimal) { update(path) { $0 + amount } }
    /// Adds an amount to an optional decimal attribute. nil remains nil.
    public mutating func increment(_ path: KeyPath<T, Decimal?>, by amount: Decimal) { update(path) { $0.map { $0 + amount } } }

    private static func sum<V: FixedWidthInteger>(_ value: V, _ amount: V) throws -> V {
        let (sum, overflows) = value.addingReportingOverflow(amount)
        if overflows { throw StoreError(.invalidValue, "\(value) + \(amount) does not fit \(V.self).") }
        return sum
    }

    static func field(_ name: String, _ entry: StoreEntity) throws -> Field {
        let entity = entry.entity
        if let field = entity.field(named: name), entry.fields(of: T.self).contains(field.index) { return field }
        throw StoreError(
            .invalidPredicate, "\(name) is not an attribute or to-one relationship of \(T._$entityName), so it cannot be set.",
            entity: T._$entityName, attribute: name)
    }
}
