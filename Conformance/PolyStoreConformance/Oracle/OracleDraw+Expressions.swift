import PolyStoreBackend

extension OracleDraw {
    // MARK: Related objects

    mutating func reference(_ entity: Entity, toOne: Bool? = nil) -> RelationshipReference? {
        let fitting = entity.relationships.filter { toOne == nil || $0.isToMany != toOne }
        return fitting.isEmpty ? nil : RelationshipReference(random.pick(fitting), in: schema)
    }

    /// Draws a condition on related objects or on their number.
    mutating func onOthers(_ entity: Entity, _ depth: Int) -> QueryPredicate? {
        guard let reference = reference(entity) else { return nil }
        let quantifiers: [Quantifier] = reference.isToMany ? [.any, .any, .all] : [.one, .one, .any, .all]
        let part = random.once(in: 8) ? QueryPredicate.all : predicate(reference.destination, random.below(max(depth, 1)))
        if random.once(in: 3) {
            return .compare(
                .count(reference, where: part), random.pick(ComparisonOperator.allCases),
                .constant(.integer(Int64(random.below(4))), .int64))
        }
        return .related(reference, random.pick(quantifiers), part)
    }

    // MARK: Expressions

    /// Draws a condition on expressions.
    mutating func onExpressions(_ entity: Entity, _ depth: Int) -> QueryPredicate { comparison(entity, depth).predicate }

    mutating func comparison(_ entity: Entity, _ depth: Int) -> OracleComparison {
        func of(_ left: QueryExpression, _ kind: OracleComparison.Kind) -> OracleComparison {
            OracleComparison(entity: entity, left: left, kind: kind)
        }
        switch random.below(12) {
        case 11:
            guard let value = json(entity) else { return of(expression(entity, depth), .isNull) }
            return json(value, of: entity)
        case 10:
            guard let part = datePart(entity) else { return of(expression(entity, depth), .isNull) }
            let number = random.pick([-1, 0, 1, 2, 3, 4, 7, 12, 23, 31, 52, 53, 59, 1970, 2000, 2001, 2032] as [Int64])
            return of(part, .compare(random.pick(ComparisonOperator.allCases), .constant(.integer(number), .int64)))
        case 0...4:
            let left = random.once(in: 2) ? number(entity, depth) : expression(entity, depth)
            return of(left, .compare(random.pick(ComparisonOperator.allCases), partner(of: left, entity, depth)))
        case 5: return of(expression(entity, depth), .isNull)
        case 6:
            let left = expression(entity, depth)
            return of(left, .oneOf((0..<random.below(4)).map { _ in random.once(in: 12) ? .null : OracleValues.value(left.type, &random) }))
        default:
            let left = text(entity, depth)
            let operation = random.pick(TextOperator.allCases)
            // Patterns of MATCHES are constants.
            if operation != .matches, random.once(in: 3) { return of(left, .text(operation, text(entity, depth))) }
            let pattern = random.once(in: 15) ? Value.null : .text(pattern(operation))
            return of(left, .text(operation, .constant(operation == .matches && pattern.isNull ? .text("a*") : pattern, .string)))
        }
    }

    mutating func expression(_ entity: Entity, _ depth: Int) -> QueryExpression {
        switch random.below(10) {
        case 9: return json(entity) ?? .field(field(entity))
        case 8: return decimal(entity, depth)
        case 0...2: return number(entity, depth)
        case 3...4: return text(entity, depth)
        case 5: return .field(field(entity))
        default:
            guard depth > 0, let reference = reference(entity) else { return .field(field(entity)) }
            if !reference.isToMany, random.below(3) > 0 { return .related(reference, expression(reference.destination, depth - 1)) }
            let inner = expression(reference.destination, depth - 1)
            return .aggregate(random.pick([.count, .countDistinct, .minimum, .maximum, .mode]), reference, inner)
        }
    }

    mutating func number(_ entity: Entity, _ depth: Int) -> QueryExpression {
        if isSearched, random.once(in: 6), let condition = search(entity) { return .score(condition) }
        switch random.below(depth > 0 ? 12 : 5) {
        case 0: return constant()
        case 4: return datePart(entity) ?? constant()
        case 1...3:
            let numbers = entity.fields.filter { $0.type.isNumber }.map(FieldReference.init)
            return .field(numbers.isEmpty || random.once(in: 6) ? .objectID : random.pick(numbers))
        case 10:
            let inner = number(entity, depth - 1)
            if random.once(in: 3) { return .function(.shuffle, [inner, random.once(in: 3) ? number(entity, 0) : constant()]) ?? inner }
            return .function(random.pick([.ln, .log, .exp]), [inner]) ?? inner
        case 5...7:
            let (left, right) = (number(entity, depth - 1), number(entity, depth - 1))
            return .arithmetic(random.pick(ArithmeticOperator.allCases), left, right) ?? left
        case 8:
            guard let reference = reference(entity) else { return constant() }
            return .count(reference, where: random.once(in: 2) ? .all : predicate(reference.destination, random.below(depth)))
        case 9:
            guard let reference = reference(entity) else { return dates(entity) ?? constant() }
            let inner = number(reference.destination, depth - 1)
            // Sums of reals may differ in the last digit, which a comparison would reveal.
            let all: [Aggregate.Function] = [.minimum, .maximum, .count, .countDistinct, .mode]
            return .aggregate(random.pick(inner.type.physical == .integer ? all + [.sum, .average] : all), reference, inner)
        default:
            guard let reference = reference(entity, toOne: true) else { return dates(entity) ?? constant() }
            return .related(reference, number(reference.destination, depth - 1))
        }
    }

    /// Draws the seconds between two dates.
    private mutating func dates(_ entity: Entity) -> QueryExpression? {
        let dates = entity.fields.filter { $0.type == .date }.map { QueryExpression.field(FieldReference($0)) }
        guard let first = dates.first else { return nil }
        let second = random.once(in: 2) ? random.pick(dates) : .constant(OracleValues.value(.date, &random), .date)
        let moved = random.once(in: 3) ? QueryExpression.arithmetic(.add, second, constant()) ?? second : second
        return .arithmetic(.subtract, first, moved)
    }

    /// Draws a decimal, in most cases a calculated one.
    private mutating func decimal(_ entity: Entity, _ depth: Int) -> QueryExpression {
        guard depth > 0, random.below(4) > 0 else {
            let fields = entity.fields.filter { $0.type == .decimal }
            let constant = QueryExpression.constant(OracleValues.value(.decimal, &random), .decimal)
            return fields.isEmpty || random.once(in: 3) ? constant : .field(FieldReference(random.pick(fields)))
        }
        let left = decimal(entity, depth - 1)
        let integer = random.pick([AttributeType.int64, .uint64, .int8])
        let right = random.once(in: 3) ? .constant(OracleValues.value(integer, &random), integer) : decimal(entity, depth - 1)
        let (first, second) = random.once(in: 2) ? (left, right) : (right, left)
        return .arithmetic(random.pick([.add, .subtract, .multiply]), first, second) ?? left
    }

    /// Draws a part of a date.
    private mutating func datePart(_ entity: Entity) -> QueryExpression? {
        let dates = entity.fields.filter { $0.type == .date }.map { QueryExpression.field(FieldReference($0)) }
        guard !dates.isEmpty else { return nil }
        let date = random.pick(dates)
        let zone = random.pick(["UTC", "UTC", "+05:30", "-03:30", "+18:00", "-00:00:01", "Etc/GMT-3", "Etc/GMT+11"])
        let moved = random.once(in: 4) ? QueryExpression.arithmetic(.add, date, constant()) ?? date : date
        return QueryTimeZone(zone).flatMap { .datePart(random.pick(DatePart.allCases), of: moved, in: $0) }
    }

    // MARK: JSON

    /// Draws a value within a JSON attribute.
    private mutating func json(_ entity: Entity) -> QueryExpression? {
        let attributes = entity.fields.filter { $0.type == .json }
        guard !attributes.isEmpty else { return nil }
        let drawn = json(attributes)
        return indexedJSON(entity) ?? drawn
    }

    private mutating func json(_ attributes: [Field]) -> QueryExpression? {
        let attribute = QueryExpression.field(FieldReference(random.pick(attributes)))
        let keys = (0..<random.pick([0, 1, 1, 1, 2, 2, 3])).map { _ in random.pick(OracleJSON.keys) }
        let type = random.pick(AttributeType.allCases.filter(JSONField.accepts))
        if random.once(in: 4), type != .json {
            let element = OracleJSON.constant(type, &random)
            if !element.isNull { return .json(JSONField(keys, .contains(element, type)), of: attribute) }
        }
        return .json(JSONField(keys, .value(type)), of: attribute)
    }

    /// Draws a value within a JSON attribute that is a component of an index, in half of the cases if there is one.
    private mutating func indexedJSON(_ entity: Entity) -> QueryExpression? {
        let parts = entity.indexes.flatMap(\.parts).filter { $0.json != nil }
        guard !parts.isEmpty, random.once(in: 2) else { return nil }
        return entity.expression(of: random.pick(parts))
    }

    /// Draws a condition on a value within a JSON attribute.
    private mutating func json(_ value: QueryExpression, of entity: Entity) -> OracleComparison {
        func of(_ kind: OracleComparison.Kind) -> OracleComparison { OracleComparison(entity: entity, left: value, kind: kind) }
        switch random.below(5) {
        case 0: return of(.isNull)
        case 1: return of(.oneOf((0..<random.below(4)).map { _ in OracleJSON.constant(value.type, &random) }))
        case 2 where value.type.physical == .text:
            return of(
                .text(random.pick([.contains, .beginsWith, .endsWith]), .constant(OracleJSON.constant(.string, &random), .string)))
        default:
            return of(.compare(random.pick(ComparisonOperator.allCases), .constant(OracleJSON.constant(value.type, &random), value.type)))
        }
    }

    private mutating func constant() -> QueryExpression {
        let type = random.pick([AttributeType.int64, .int64, .uint64, .double, .int8])
        return .constant(OracleValues.value(type, &random), type)
    }

    mutating func text(_ entity: Entity, _ depth: Int) -> QueryExpression {
        let options = random.pick([TextOptions.caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive]])
        switch random.below(depth > 0 ? 6 : 4) {
        case 0: return .constant(OracleValues.value(.string, &random), .string)
        case 1: return .folded(text(entity, depth), options)
        case 4, 5:
            guard let reference = reference(entity, toOne: true) else { break }
            return .related(reference, text(reference.destination, depth - 1))
        default: break
        }
        let texts = entity.fields.filter { $0.type.physical == .text }
        return texts.isEmpty ? .constant(OracleValues.value(.string, &random), .string) : .field(FieldReference(random.pick(texts)))
    }

    /// Draws an expression with which another can be compared.
    private mutating func partner(of left: QueryExpression, _ entity: Entity, _ depth: Int) -> QueryExpression {
        if random.once(in: 15) { return .constant(.null, left.type) }
        if left.type.isNumber { return random.once(in: 3) ? constant() : number(entity, depth) }
        if left.type.physical == .text, random.once(in: 2) { return text(entity, depth) }
        if left.type == .decimal, random.once(in: 2) { return decimal(entity, depth) }
        for _ in 0..<4 {
            let right = expression(entity, depth)
            if left.type.isComparable(with: right.type) { return right }
        }
        return .constant(OracleValues.value(left.type, &random), left.type)
    }

    // MARK: Patterns

    /// Draws a pattern similar to a text of the store, from its beginning.
    mutating func likeness(of text: String) -> String {
        var pattern = ""
        for scalar in text.unicodeScalars.prefix(random.below(6)) {
            switch random.below(8) {
            case 0: pattern += "?"
            case 1: pattern += "*"
            case 2, 3: pattern += "\\" + String(scalar)
            default: pattern += "*?\\".unicodeScalars.contains(scalar) ? "\\" + String(scalar) : String(scalar)
            }
        }
        return random.pick(["", "?", "*", "*?"]) + pattern + random.pick(["", "?", "*", "?*"])
    }

    /// Draws a pattern that matches a text: its beginning, with escapes, and a star.
    mutating func escapedBeginning(of text: String) -> String {
        var pattern = ""
        for scalar in text.unicodeScalars.prefix(1 + random.below(6)) {
            pattern += random.once(in: 2) || "*?\\".unicodeScalars.contains(scalar) ? "\\" + String(scalar) : String(scalar)
        }
        // With a question mark, because a pattern without one is evaluated as a comparison of beginnings.
        return pattern + random.pick(["*", "?*", "?*"])
    }

    mutating func pattern(_ operation: TextOperator) -> String {
        switch operation {
        case .like:
            if random.once(in: 2), case .text(let text) = OracleValues.value(.string, &random) { return likeness(of: text) }
            return (0..<random.below(5)).map { _ in
                random.pick(["a", "b", "*", "*", "?", "é", "\\*", "\\", "\\a", "e\u{301}", "%", "prefix"])
            }
            .joined()
        case .matches: return regularExpression(2)
        default: return OracleValues.pattern(&random)
        }
    }

    private mutating func regularExpression(_ depth: Int) -> String {
        (0..<1 + random.below(3)).map { _ in
            var part = random.pick(["a", "b", ".", "[ab]", "[^a]", "\\*", "\\?", "é", "e", "\u{301}", "prefix-", "A"])
            if depth > 0, random.once(in: 4) {
                part = "(" + regularExpression(depth - 1) + (random.once(in: 2) ? "|" + regularExpression(depth - 1) : "") + ")"
            }
            let repetition = random.pick(["", "", "*", "+", "?"])
            // ICU limits the steps of a match: a repetition of repetitions can find no match in a long text.
            return part + (part.hasPrefix("(") && part.contains { "*+".contains($0) } && repetition != "" ? "?" : repetition)
        }.joined()
    }

    // MARK: Invalid requests

    /// Draws a request with one invalid element.
    mutating func wrongRequest(_ entity: Entity) -> FetchRequest {
        var request = FetchRequest(entity)
        if random.once(in: 4) {
            request.sortKeys = [SortKey(QueryExpression.folded(wrongExpression(entity), .caseInsensitive))]
            return request
        }
        var predicate = wrong(entity)
        for _ in 0..<random.below(4) {
            let other = QueryPredicate.compare(.objectID, .greater, .integer(0))
            predicate = random.pick([.not(predicate), .and([other, predicate]), .or([predicate, other])])
        }
        request.predicate = predicate
        // A relationship that leads to the entity.
        let referrers = schema.entities.flatMap { source in source.relationships.map { (source, $0) } }.filter {
            $1.destination == entity.index
        }
        if !referrers.isEmpty, random.once(in: 2) {
            let (source, relationship) = random.pick(referrers)
            let reference = RelationshipReference(relationship, in: schema)
            request = FetchRequest(
                source,
                predicate: random.once(in: 2)
                    ? .related(reference, .any, predicate)
                    : .compare(.count(reference, where: predicate), .less, .constant(.integer(2), .int64)))
        }
        return request
    }

    private mutating func wrong(_ entity: Entity) -> QueryPredicate {
        let id = QueryExpression.field(.objectID)
        switch random.below(8) {
        case 0: return .isNull(.folded(wrongExpression(entity), .diacriticInsensitive))
        case 1:
            guard let reference = reference(entity, toOne: false) else { break }
            return .related(reference, .one, .all)
        case 2:
            // Of another entity, or with another field index.
            guard
                let reference = schema.entities.flatMap({ other in other.relationships.map { RelationshipReference($0, in: schema) } })
                    .first(where: { !entity.relationships.contains($0.relationship) })
            else { break }
            return .related(reference, .any, .all)
        case 3: return .text(text(entity, 0), .matches, .constant(.text(random.pick(["[", "(", "*a", "a)"])), .string))
        case 4: return .text(text(entity, 0), .matches, .folded(.field(.objectID), .caseInsensitive))
        case 5:
            guard let reference = reference(entity) else { break }
            return .isNull(.aggregate(random.pick([.sum, .average]), reference, .folded(text(reference.destination, 0), .caseInsensitive)))
        case 6: return .compare(.arithmetic(.add, id, id) ?? id, .equal, text(entity, 0))
        default: break
        }
        return .text(id, random.pick([.contains, .like, .beginsWith]), .constant(.text("1"), .string))
    }

    /// Draws an expression that is not text, or not a value.
    private mutating func wrongExpression(_ entity: Entity) -> QueryExpression {
        if let reference = reference(entity, toOne: false), random.once(in: 2) {
            return .related(reference, text(reference.destination, 0))
        }
        return random.pick([.field(.objectID), .constant(.blob([1]), .data)])
    }
}

extension Entity {
    /// Returns the value of a component of an index.
    func expression(of part: Index.Part) -> QueryExpression {
        let field = QueryExpression.field(FieldReference(fields[part.field]))
        return part.json.flatMap { .json($0, of: field) } ?? field
    }
}
