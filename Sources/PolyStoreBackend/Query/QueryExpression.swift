/// A relationship in a condition, with its destination entity.
public struct RelationshipReference: Sendable, Hashable {
    /// The relationship.
    public let relationship: Relationship
    /// The destination entity.
    public let destination: Entity

    /// Creates a reference from a resolved schema.
    public init(_ relationship: Relationship, in schema: ResolvedSchema) {
        self.relationship = relationship
        destination = schema.entities[relationship.destination]
    }

    /// The name of the relationship.
    public var name: String { relationship.name }
    /// A Boolean value that indicates whether the relationship is to-many.
    public var isToMany: Bool { relationship.isToMany }

    /// The field that holds the destination id; nil for a to-many relationship.
    public var foreignKey: FieldReference? {
        guard case .foreignKey(let field) = relationship.storage else { return nil }
        return FieldReference(index: field, name: relationship.name, type: .int64)
    }

    /// Returns the destination id of a to-one relationship; nil if it is null, and for a to-many relationship.
    package func target(in record: RecordView) -> Int64? {
        guard case .foreignKey(let field) = relationship.storage, !record.isNull(field) else { return nil }
        return record.integer64(field)
    }
}

/// A value computed for an object: a field of the object or of a related one, a count, an aggregate, a calculation.
///
/// The value is null if an operand is null, if an integer overflows 64 bits, if a decimal needs more than 38 digits, and for a division by zero.
public struct QueryExpression: Sendable, Hashable {
    /// The kind of expression. New versions may add cases, as for ``QueryPredicate/Node``.
    public enum Node: Sendable, Hashable {
        /// The value of a field.
        case field(FieldReference)
        /// A constant.
        case constant(Value)
        /// A value of the destination of a to-one relationship.
        indirect case related(RelationshipReference, QueryExpression)
        /// The number of related objects that satisfy a condition.
        indirect case count(RelationshipReference, QueryPredicate)
        /// An aggregate of the values of related objects; see ``Aggregate/Function``.
        indirect case aggregate(Aggregate.Function, RelationshipReference, QueryExpression)
        /// The result of an arithmetic operation; null if one of the values is null.
        indirect case arithmetic(ArithmeticOperator, QueryExpression, QueryExpression)
        /// A text normalized for comparisons with options.
        indirect case folded(QueryExpression, TextOptions)
        /// A function of one or two values; null if one of them is null.
        indirect case function(ScalarFunction, [QueryExpression])
        /// A part of a date; null where the date is null or cannot be computed; see ``DatePart``.
        indirect case datePart(DatePart, QueryTimeZone, QueryExpression)
        /// A value within a JSON attribute; see ``JSONField``.
        indirect case json(JSONField, QueryExpression)
        /// The score of the object in a full-text search; 0 if it does not satisfy the search.
        case score(SearchCondition)
        /// The first value if the condition is true, the second if it is false or unknown.
        indirect case conditional(QueryPredicate, QueryExpression, QueryExpression)
        /// A value of the member at a position of an ordered relationship, from 0, or -1 for the last. Null if there is none.
        indirect case element(RelationshipReference, Int, QueryExpression)
        /// A value of an enclosing object: 1 is the object at the source of the relationship, 2 the source of the relationship that leads to that one, and so
        /// on.
        ///
        /// Each relationship followed by a condition or an expression adds one level, and so does the value of an enclosing object.
        indirect case outer(Int, QueryExpression)
    }

    /// The kind of expression, with its operands.
    public let node: Node
    /// The type of the value.
    public let type: AttributeType

    init(_ node: Node, _ type: AttributeType) {
        self.node = node
        self.type = type
    }

    /// Returns the value of a field.
    public static func field(_ field: FieldReference) -> QueryExpression { QueryExpression(.field(field), field.type) }

    /// Returns a constant.
    public static func constant(_ value: Value, _ type: AttributeType) -> QueryExpression { QueryExpression(.constant(value), type) }

    /// Returns a value of the destination of a to-one relationship.
    public static func related(_ relationship: RelationshipReference, _ expression: QueryExpression) -> QueryExpression {
        // The destination id is the value of the foreign key.
        if case .field(let field) = expression.node, field.isObjectID, let key = relationship.foreignKey { return .field(key) }
        return QueryExpression(.related(relationship, expression), expression.type)
    }

    /// Returns the number of related objects that satisfy a predicate.
    public static func count(_ relationship: RelationshipReference, where predicate: QueryPredicate = .all) -> QueryExpression {
        QueryExpression(.count(relationship, predicate), .int64)
    }

    /// Returns an aggregate of the values of related objects.
    public static func aggregate(
        _ function: Aggregate.Function, _ relationship: RelationshipReference, _ expression: QueryExpression
    ) -> QueryExpression {
        QueryExpression(.aggregate(function, relationship, expression), function.type(of: expression.type))
    }

    /// Returns an arithmetic operation.
    /// - Returns: nil if the types do not support the operation: numbers support all, dates and decimals some.
    public static func arithmetic(
        _ operation: ArithmeticOperator, _ left: QueryExpression, _ right: QueryExpression
    ) -> QueryExpression? {
        guard let type = operation.type(left.type, right.type) else { return nil }
        return QueryExpression(.arithmetic(operation, left, right), type)
    }

    /// Returns a text normalized for comparisons with options.
    public static func folded(_ expression: QueryExpression, _ options: TextOptions) -> QueryExpression {
        if options.isEmpty { return expression }
        if case .constant(.text(let text)) = expression.node { return .constant(.text(options.fold(text)), .string) }
        return QueryExpression(.folded(expression, options), .string)
    }

    /// Returns a function call.
    /// - Returns: nil if the function does not accept values of these types.
    public static func function(_ function: ScalarFunction, _ operands: [QueryExpression]) -> QueryExpression? {
        guard let type = function.type(operands.map(\.type)) else { return nil }
        return QueryExpression(.function(function, operands), type)
    }

    /// Returns a part of a date.
    /// - Parameters:
    ///   - part: The part.
    ///   - date: The date.
    ///   - zone: The time zone in which the date is read.
    /// - Returns: nil if the expression is not a date.
    public static func datePart(_ part: DatePart, of date: QueryExpression, in zone: QueryTimeZone = .utc) -> QueryExpression? {
        guard date.type == .date else { return nil }
        return QueryExpression(.datePart(part, zone, date), .int64)
    }

    /// Returns a value within a JSON attribute.
    /// - Returns: nil if the expression is not JSON, or the field has a type that values in JSON are not read as; see ``JSONField/accepts(_:)``.
    public static func json(_ field: JSONField, of attribute: QueryExpression) -> QueryExpression? {
        guard field.refusal(of: attribute) == nil else { return nil }
        return QueryExpression(.json(field, attribute), field.type)
    }

    /// Returns one of two values, depending on a condition.
    /// - Returns: nil if the values have different types and are not both numbers.
    public static func conditional(
        _ predicate: QueryPredicate, _ first: QueryExpression, _ second: QueryExpression
    ) -> QueryExpression? {
        let type: AttributeType
        if first.type == second.type || second.asConstant?.isNull ?? false {
            type = first.type
        } else if first.asConstant?.isNull ?? false {
            type = second.type
        } else if first.type.isNumber, second.type.isNumber, (first.type == .uint64) == (second.type == .uint64) {
            type = first.type.physical == .integer && second.type.physical == .integer ? .int64 : .double
        } else {
            return nil
        }
        return QueryExpression(.conditional(predicate, first, second), type)
    }

    /// Returns a value of a member of an ordered relationship.
    /// - Parameters:
    ///   - relationship: The ordered relationship.
    ///   - position: The position from 0, or -1 for the last member.
    ///   - expression: The value to read, an expression on the entity of the members.
    public static func element(_ relationship: RelationshipReference, at position: Int, _ expression: QueryExpression) -> QueryExpression {
        QueryExpression(.element(relationship, position, expression), expression.type)
    }

    /// Returns a value of the enclosing object `levels` levels out.
    public static func outer(_ levels: Int, _ expression: QueryExpression) -> QueryExpression {
        if case .constant = expression.node { return expression }
        return QueryExpression(.outer(levels, expression), expression.type)
    }

    /// Returns the score of an object in a full-text search.
    public static func score(_ condition: SearchCondition) -> QueryExpression { QueryExpression(.score(condition), .double) }

    /// The field, if the expression is a plain field; otherwise nil.
    public var asField: FieldReference? { if case .field(let field) = node { field } else { nil } }
    /// The value, if the expression is a constant; otherwise nil.
    public var asConstant: Value? { if case .constant(let value) = node { value } else { nil } }

    /// A Boolean value that indicates whether the expression refers to related objects.
    public var needsRelated: Bool {
        switch node {
        case .field, .constant, .score: false
        case .related, .count, .aggregate, .element: true
        case .arithmetic(_, let left, let right): left.needsRelated || right.needsRelated
        case .folded(let inner, _), .datePart(_, _, let inner), .json(_, let inner), .outer(_, let inner): inner.needsRelated
        case .function(_, let operands): operands.contains(where: \.needsRelated)
        case .conditional(let predicate, let first, let second): predicate.needsRelated || first.needsRelated || second.needsRelated
        }
    }

    /// Returns the nesting depth, counted as in ``QueryPredicate/depth(upTo:)``.
    package func depth(upTo limit: Int) -> Int {
        guard limit > 1 else { return 1 }
        let rest = limit - 1
        return switch node {
        case .field, .constant, .score: 1
        case .related(_, let inner), .aggregate(_, _, let inner), .folded(let inner, _): 1 + inner.depth(upTo: rest)
        case .count(_, let predicate): 1 + predicate.depth(upTo: rest)
        case .arithmetic(_, let left, let right): 1 + max(left.depth(upTo: rest), right.depth(upTo: rest))
        case .element(_, _, let inner), .outer(_, let inner), .datePart(_, _, let inner), .json(_, let inner): 1 + inner.depth(upTo: rest)
        case .function(_, let operands): 1 + (operands.lazy.map { $0.depth(upTo: rest) }.max() ?? 0)
        case .conditional(let predicate, let first, let second):
            1 + max(predicate.depth(upTo: rest), first.depth(upTo: rest), second.depth(upTo: rest))
        }
    }

    /// Adds the fields of the object itself that the expression refers to.
    public func collectFields(into mask: inout FieldMask) {
        switch node {
        case .field(let field): if !field.isObjectID { mask.insert(field.index) }
        case .score(let condition): if condition.scores == nil { for field in condition.index.fields { mask.insert(field) } }
        // An outer value refers to fields of another object.
        case .constant, .outer: break
        case .related(let relationship, let inner), .aggregate(_, let relationship, let inner), .element(let relationship, _, let inner):
            if let key = relationship.foreignKey { mask.insert(key.index) }
            inner.collectOuterFields(1, into: &mask)
        case .count(let relationship, let predicate):
            if let key = relationship.foreignKey { mask.insert(key.index) }
            predicate.collectOuterFields(1, into: &mask)
        case .arithmetic(_, let left, let right):
            left.collectFields(into: &mask)
            right.collectFields(into: &mask)
        case .folded(let inner, _), .datePart(_, _, let inner), .json(_, let inner): inner.collectFields(into: &mask)
        case .function(_, let operands): for operand in operands { operand.collectFields(into: &mask) }
        case .conditional(let predicate, let first, let second):
            predicate.collectFields(into: &mask)
            first.collectFields(into: &mask)
            second.collectFields(into: &mask)
        }
    }
}

extension QueryExpression {
    /// The type of the values that a collection aggregate covers; nil for any other expression.
    package var memberType: AttributeType? {
        switch node {
        case .count: .int64
        case .aggregate(_, _, let inner): inner.type
        case .related(_, let inner): inner.memberType
        default: nil
        }
    }

    /// The to-one relationship that leads to the value, and the value as an expression on its destination; nil if the value is not one of a related object.
    ///
    /// A part of a date of a related object is a value of that object, and so is a value within its JSON.
    var asRelated: (relationship: RelationshipReference, inner: QueryExpression)? {
        switch node {
        case .related(let relationship, let inner): return (relationship, inner)
        case .datePart(let part, let zone, let date):
            guard let (relationship, inner) = date.asRelated else { return nil }
            return (relationship, QueryExpression(.datePart(part, zone, inner), type))
        case .json(let field, let attribute):
            guard let (relationship, inner) = attribute.asRelated else { return nil }
            return (relationship, QueryExpression(.json(field, inner), type))
        default: return nil
        }
    }

    /// The values that a collection aggregate covers, as a path: `department.people.age`.
    package var memberDescription: String {
        switch node {
        case .count(let relationship, .all): relationship.name
        case .aggregate(_, let relationship, let inner): "\(relationship.name).\(inner)"
        case .related(let relationship, let inner): "\(relationship.name).\(inner.memberDescription)"
        default: description
        }
    }
}

extension QueryExpression: CustomStringConvertible {
    /// The expression in readable form, for errors and query plans.
    public var description: String {
        switch node {
        case .field(let field): field.name
        case .constant(let value): value.literal
        case .score(let condition): "SCORE(\(condition))"
        case .related(let relationship, let inner): "\(relationship.name).\(inner)"
        case .count(let relationship, let predicate):
            predicate == .all ? "\(relationship.name).@count" : "SUBQUERY(\(relationship.name), $x, \(predicate)).@count"
        case .aggregate(let function, let relationship, let inner): "\(relationship.name).@\(function.rawValue).\(inner)"
        case .arithmetic(let operation, let left, let right): "(\(left) \(operation.rawValue) \(right))"
        case .folded(let inner, let options): "\(inner)[\(options.letters)]"
        case .function(.length, let operands): "\(operands[0]).length"
        case .function(let function, let operands): "\(function.rawValue)(\(operands.map(\.description).joined(separator: ", ")))"
        case .datePart(let part, .utc, let inner): "\(part.rawValue)(\(inner))"
        case .datePart(let part, let zone, let inner): "\(part.rawValue)(\(inner), \"\(zone.identifier)\")"
        case .json(let field, let inner): field.description(of: inner)
        case .conditional(let predicate, let first, let second): "TERNARY(\(predicate), \(first), \(second))"
        case .element(let relationship, let position, let inner):
            "\(relationship.name)[\(position < 0 ? "LAST" : "\(position)")].\(inner)"
        case .outer(let levels, let inner): String(repeating: "^", count: levels) + "\(inner)"
        }
    }
}
