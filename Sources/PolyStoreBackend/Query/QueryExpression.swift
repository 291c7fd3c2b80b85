/// A relationship in a condition, with the entity at its other end.
public struct RelationshipReference: Sendable, Hashable {
    public let relationship: Relationship
    public let destination: Entity

    public init(_ relationship: Relationship, in schema: ResolvedSchema) {
        self.relationship = relationship
        destination = schema.entities[relationship.destination]
    }

    public var name: String { relationship.name }
    public var isToMany: Bool { relationship.isToMany }

    /// The field that holds the target's id; nil for a to-many relationship.
    public var foreignKey: FieldReference? {
        guard case .foreignKey(let field) = relationship.storage else { return nil }
        return FieldReference(ordinal: field, name: relationship.name, type: .int64)
    }

    /// The id of the object that a relationship to one leads to; nil where it leads nowhere, and for a to-many relationship.
    func target(in record: RecordView) -> Int64? {
        guard case .foreignKey(let field) = relationship.storage, !record.isNull(field) else { return nil }
        return record.integer64(field)
    }
}

/// A value worked out for an object: a field of it or of objects that it leads to, a number of them, a sum.
///
/// Null where anything on the way is missing, where integers overflow 64 bits, and of a division by zero.
public struct QueryExpression: Sendable, Hashable {
    /// More cases come with new versions, as with ``QueryPredicate/Node``.
    public indirect enum Node: Sendable, Hashable {
        case field(FieldReference)
        case constant(Value)
        /// A value of the object that a to-one relationship leads to.
        case related(RelationshipReference, QueryExpression)
        /// How many of the objects that a relationship leads to satisfy a condition.
        case count(RelationshipReference, QueryPredicate)
        /// Over the values of the objects that a to-many relationship leads to, as ``Aggregate/Function`` says.
        case aggregate(Aggregate.Function, RelationshipReference, QueryExpression)
        case arithmetic(ArithmeticOperator, QueryExpression, QueryExpression)
        /// A text without what does not count.
        case folded(QueryExpression, TextOptions)
    }

    public let node: Node
    /// The type of its values.
    public let type: AttributeType

    private init(_ node: Node, _ type: AttributeType) {
        self.node = node
        self.type = type
    }

    public static func field(_ field: FieldReference) -> QueryExpression { QueryExpression(.field(field), field.type) }

    public static func constant(_ value: Value, _ type: AttributeType) -> QueryExpression { QueryExpression(.constant(value), type) }

    public static func related(_ relationship: RelationshipReference, _ expression: QueryExpression) -> QueryExpression {
        // The id of the target is the field itself.
        if case .field(let field) = expression.node, field.isObjectID, let key = relationship.foreignKey { return .field(key) }
        return QueryExpression(.related(relationship, expression), expression.type)
    }

    public static func count(_ relationship: RelationshipReference, where predicate: QueryPredicate = .all) -> QueryExpression {
        QueryExpression(.count(relationship, predicate), .int64)
    }

    public static func aggregate(
        _ function: Aggregate.Function, _ relationship: RelationshipReference, _ expression: QueryExpression
    ) -> QueryExpression {
        QueryExpression(.aggregate(function, relationship, expression), function.type(of: expression.type))
    }

    /// - Returns: nil where the types have no such operation: only numbers do, and dates a little.
    public static func arithmetic(
        _ operation: ArithmeticOperator, _ left: QueryExpression, _ right: QueryExpression
    ) -> QueryExpression? {
        guard let type = operation.type(left.type, right.type) else { return nil }
        return QueryExpression(.arithmetic(operation, left, right), type)
    }

    public static func folded(_ expression: QueryExpression, _ options: TextOptions) -> QueryExpression {
        if options.isEmpty { return expression }
        if case .constant(.text(let text)) = expression.node { return .constant(.text(options.fold(text)), .string) }
        return QueryExpression(.folded(expression, options), .string)
    }

    /// The field, where it is nothing else.
    public var asField: FieldReference? { if case .field(let field) = node { field } else { nil } }
    public var asConstant: Value? { if case .constant(let value) = node { value } else { nil } }

    /// Whether other objects have to be looked at.
    public var needsRelated: Bool {
        switch node {
        case .field, .constant: false
        case .related, .count, .aggregate: true
        case .arithmetic(_, let left, let right): left.needsRelated || right.needsRelated
        case .folded(let inner, _): inner.needsRelated
        }
    }

    /// How deeply it is nested, as ``QueryPredicate/depth(upTo:)`` counts.
    func depth(upTo limit: Int) -> Int {
        guard limit > 1 else { return 1 }
        let rest = limit - 1
        return switch node {
        case .field, .constant: 1
        case .related(_, let inner), .aggregate(_, _, let inner), .folded(let inner, _): 1 + inner.depth(upTo: rest)
        case .count(_, let predicate): 1 + predicate.depth(upTo: rest)
        case .arithmetic(_, let left, let right): 1 + max(left.depth(upTo: rest), right.depth(upTo: rest))
        }
    }

    /// Adds the fields that it looks at, of the object itself.
    public func collectFields(into mask: inout FieldMask) {
        switch node {
        case .field(let field): if !field.isObjectID { mask.insert(field.ordinal) }
        case .constant: break
        case .related(let relationship, _), .count(let relationship, _), .aggregate(_, let relationship, _):
            if let key = relationship.foreignKey { mask.insert(key.ordinal) }
        case .arithmetic(_, let left, let right):
            left.collectFields(into: &mask)
            right.collectFields(into: &mask)
        case .folded(let inner, _): inner.collectFields(into: &mask)
        }
    }
}

extension QueryExpression {
    /// The type of the values that a collection aggregate is over; nil where the expression is none.
    var memberType: AttributeType? {
        switch node {
        case .count: .int64
        case .aggregate(_, _, let inner): inner.type
        case .related(_, let inner): inner.memberType
        default: nil
        }
    }

    /// Whose values a collection aggregate is over: `department.people.age`.
    var memberDescription: String {
        switch node {
        case .count(let relationship, .all): relationship.name
        case .aggregate(_, let relationship, let inner): "\(relationship.name).\(inner)"
        case .related(let relationship, let inner): "\(relationship.name).\(inner.memberDescription)"
        default: description
        }
    }
}

extension Aggregate.Function {
    /// The type of the answer.
    public func type(of operand: AttributeType) -> AttributeType {
        switch self {
        case .count, .countDistinct: .int64
        case .average, .standardDeviation, .median: .double
        case .sum: operand.physical == .real ? .double : (operand == .uint64 ? .uint64 : .int64)
        case .minimum, .maximum: operand
        }
    }
}

extension ArithmeticOperator {
    /// Integers give integers, a real gives reals. A date and a number of seconds give a date, two dates the seconds between.
    func type(_ left: AttributeType, _ right: AttributeType) -> AttributeType? {
        switch (left, right) {
        case (.date, .date): return self == .subtract ? .double : nil
        case (.date, _) where right.isNumber: return self == .add || self == .subtract ? .date : nil
        case (_, .date) where left.isNumber: return self == .add ? .date : nil
        default:
            guard left.isNumber, right.isNumber else { return nil }
            return left.physical == .integer && right.physical == .integer ? .int64 : .double
        }
    }
}

extension AttributeType {
    /// Whether it can be calculated with: neither truth values nor decimals can.
    public var isNumber: Bool {
        switch self {
        case .int8, .int16, .int32, .int64, .uint8, .uint16, .uint32, .uint64, .float, .double: true
        default: false
        }
    }

    /// Whether values of both have an order among each other.
    public func isComparable(with other: AttributeType) -> Bool {
        if self == other || isNumber && other.isNumber { return true }
        let integers: (AttributeType) -> Bool = { $0.physical == .integer && $0 != .uint64 }
        return integers(self) && integers(other) || physical == .text && other.physical == .text
    }
}

extension QueryExpression: CustomStringConvertible {
    public var description: String {
        switch node {
        case .field(let field): field.name
        case .constant(let value): value.literal
        case .related(let relationship, let inner): "\(relationship.name).\(inner)"
        case .count(let relationship, let predicate):
            predicate == .all ? "\(relationship.name).@count" : "SUBQUERY(\(relationship.name), $x, \(predicate)).@count"
        case .aggregate(let function, let relationship, let inner): "\(relationship.name).@\(function.rawValue).\(inner)"
        case .arithmetic(let operation, let left, let right): "(\(left) \(operation.rawValue) \(right))"
        case .folded(let inner, let options): "\(inner)[\(options.letters)]"
        }
    }
}

extension TextOptions {
    /// `c`, `d`, `cd` or nothing.
    public var letters: String { (contains(.caseInsensitive) ? "c" : "") + (contains(.diacriticInsensitive) ? "d" : "") }
}
