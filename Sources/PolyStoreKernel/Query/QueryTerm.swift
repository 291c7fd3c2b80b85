import PolyStoreBackend
import PolyStoreConditions

/// A parsed value of a query: an operand, or a function of one. Equal terms have the same meaning.
struct QueryTerm: Hashable {
    var function: Aggregate.Function?
    /// The operand; nil for the objects themselves in a count.
    var operand: Operand?
    /// The original text.
    var text: String

    static func == (left: QueryTerm, right: QueryTerm) -> Bool { left.function == right.function && left.operand == right.operand }
    func hash(into hasher: inout Hasher) {
        hasher.combine(function)
        hasher.combine(operand)
    }

    /// The default name: `age`, `average(age)`.
    var name: String { function.map { "\($0.name)(\(operand == nil ? "*" : text))" } ?? text }
}

extension QueryTerm {
    /// - Throws: `invalidPredicate` for a key path of another model or over a property that is not stored, and for an invalid expression.
    init<T: Model>(_ function: Aggregate.Function?, _ name: QueryName, _ type: T.Type, _ context: Context, _ entry: StoreEntity) throws {
        switch name {
        case .objects: self.init(function: function, operand: nil, text: "*")
        case .path(let path):
            guard let path = path as? PartialKeyPath<T> else {
                throw StoreError(.invalidPredicate, "\(path) is not a key path of \(T._$entityName).", entity: T._$entityName)
            }
            let found = try KeyPathProbe.path(of: path, context, entry)
            self.init(function: function, operand: .path(found), text: found.keys.joined(separator: "."))
        case .operand(let operand): self.init(function: function, operand: operand)
        case .text(let text):
            let inner = try QueryTerm(parsing: text)
            guard function == nil || inner.function == nil else {
                throw StoreError(
                    .invalidPredicate, "\(function?.name ?? "")(\(text)) is a function of a function over the same objects.",
                    entity: T._$entityName)
            }
            self.init(function: function ?? inner.function, operand: inner.operand, text: inner.text)
        }
    }

    /// Parses a name, a path, `average(path)`, or an expression.
    init(parsing text: String) throws {
        let bytes = Array(text.utf8)
        if Self.isPath(bytes[...]) {
            let keys = PropertyPath(dotted: text).keys
            let location = FormatLocation(text, 0..<bytes.count)
            self.init(function: nil, operand: .path(PropertyPath(keys, location: location)), text: text)
        } else if let opening = bytes.firstIndex(of: UInt8(ascii: "(")), Self.closing(of: opening, bytes) == bytes.count - 1,
            let function = Aggregate.Function(name: String(decoding: bytes[..<opening], as: UTF8.self))
        {
            let inner = String(decoding: bytes[(opening + 1)..<(bytes.count - 1)], as: UTF8.self)
            if inner == "*", function == .count {
                self.init(function: function, operand: nil, text: inner)
                return
            }
            let operand: Operand =
                Self.isPath(Array(inner.utf8)[...])
                ? .path(PropertyPath(PropertyPath(dotted: inner).keys, location: FormatLocation(text, (opening + 1)..<(bytes.count - 1))))
                : try Operand(format: inner)
            self.init(function: function, operand: operand, text: inner)
        } else {
            self.init(function: nil, operand: try Operand(format: text), text: text)
        }
    }

    /// Creates a term from an operand, which may be an aggregate over the objects of a group.
    init(function: Aggregate.Function? = nil, operand: Operand) {
        if function == nil, case .aggregate(let function, let inner) = operand {
            self.init(function: function, operand: inner, text: inner.map { Self.text($0) } ?? "*")
        } else {
            self.init(function: function, operand: operand, text: Self.text(operand))
        }
    }

    private static func text(_ operand: Operand) -> String {
        if case .path(let path) = operand { path.keys.joined(separator: ".") } else { operand.description }
    }

    /// Creates a term from a path in a condition on groups. The parser reads `average(age)` as `["@avg", "age"]`.
    init(_ path: PropertyPath) {
        let name = path.keys.joined(separator: ".")
        var keys = path.keys
        // `@count` is the last key, unless it belongs to the operand of another function.
        let index =
            keys.last == "@count" && !(keys.dropLast().last?.hasPrefix("@") ?? false)
            ? keys.count - 1 : keys.firstIndex { $0.hasPrefix("@") }
        guard let index, let function = Aggregate.Function(collectionOperator: keys[index]) else {
            // The function may be part of a key: `%"average(age)"`.
            self = (try? QueryTerm(parsing: name)) ?? QueryTerm(function: nil, operand: .path(path), text: name)
            return
        }
        keys.remove(at: index)
        self.init(
            function: function, operand: .path(PropertyPath(keys, location: path.location)), text: keys.joined(separator: "."))
    }

    /// Returns whether the bytes are names joined by dots.
    private static func isPath(_ bytes: ArraySlice<UInt8>) -> Bool {
        !bytes.isEmpty
            && bytes.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "_"), UInt8(ascii: "@"), UInt8(ascii: "."), 128...:
                    true
                default: false
                }
            } && !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= bytes[bytes.startIndex])
    }

    /// Returns the offset of the parenthesis that closes the given one.
    private static func closing(of opening: Int, _ bytes: [UInt8]) -> Int? {
        var depth = 0
        for (index, byte) in bytes.enumerated().dropFirst(opening) {
            if byte == UInt8(ascii: "(") { depth += 1 }
            if byte == UInt8(ascii: ")") { depth -= 1 }
            if depth == 0 { return index }
        }
        return nil
    }
}

extension Aggregate.Function {
    /// Creates a function from its name in format strings.
    init?(name: String) {
        switch name.lowercased() {
        case "count": self = .count
        case "countdistinct": self = .countDistinct
        case "sum": self = .sum
        case "average", "avg": self = .average
        case "min", "minimum": self = .minimum
        case "max", "maximum": self = .maximum
        case "stddev", "standarddeviation": self = .standardDeviation
        case "median": self = .median
        case "mode": self = .mode
        default: return nil
        }
    }

    init?(collectionOperator: String) {
        guard collectionOperator.hasPrefix("@") else { return nil }
        self.init(name: String(collectionOperator.dropFirst()))
    }

    var collectionOperator: String { self == .average ? "@avg" : "@" + name }
}

extension QueryTerm {
    /// Returns the value for an object. A function aggregates the objects at the end of the operand's path.
    func value(_ entry: StoreEntity) throws -> (expression: QueryExpression, target: Entity?) {
        guard let operand else { throw unfit("It counts objects", entry) }
        guard function != nil else { return try operand.resolved(for: entry.entity, in: entry.store.schema) }
        guard let path = membersPath(entry) else { throw unfit("It leads to one value", entry) }
        return try Operand.path(path).resolved(for: entry.entity, in: entry.store.schema)
    }

    /// Returns the operand with a collection operator at its end, if it leads to many objects.
    private func membersPath(_ entry: StoreEntity) -> PropertyPath? {
        guard let function, case .path(var path)? = operand, leadsToMany(entry) else { return nil }
        // Distinct objects have distinct ids.
        if function == .countDistinct, leadsToObjects(path, entry) { path.keys.append("objectID") }
        path.keys.append(function.collectionOperator)
        return path
    }

    /// Returns whether the operand leads to many objects.
    func leadsToMany(_ entry: StoreEntity) -> Bool {
        guard case .path(let path)? = operand, !path.keys.contains(where: { $0.hasPrefix("@") }) else { return false }
        return relationships(path, entry).contains(where: \.isToMany)
    }

    /// Returns whether the values of the operand are objects.
    func operandIsObject(_ entry: StoreEntity) -> Bool {
        if case .path(let path)? = operand { leadsToObjects(path, entry) } else { false }
    }

    private func leadsToObjects(_ path: PropertyPath, _ entry: StoreEntity) -> Bool {
        relationships(path, entry).count == path.keys.count
    }

    private func relationships(_ path: PropertyPath, _ entry: StoreEntity) -> [Relationship] {
        var entity = entry.entity
        var found: [Relationship] = []
        for key in path.keys {
            guard let relationship = entity.relationship(named: key) else { break }
            found.append(relationship)
            entity = entry.store.schema.entities[relationship.destination]
        }
        return found
    }

    /// Returns the aggregate over the objects of a group.
    func aggregate(_ entry: StoreEntity) throws -> (aggregate: Aggregate, target: Entity?) {
        guard let function else { throw unfit("It is no function", entry) }
        guard let operand else { return (.count, nil) }
        if let path = membersPath(entry) {
            let expression = try Operand.path(path).resolved(for: entry.entity, in: entry.store.schema).expression
            return (.overMembers(function, expression), nil)
        }
        let (expression, target) = try operand.resolved(for: entry.entity, in: entry.store.schema)
        if let target, function != .count, function != .countDistinct {
            throw unfit("\(function.name) needs values, and \(text) is an object of \(target.name)", entry)
        }
        return (.of(function, expression), target)
    }

    private func unfit(_ why: String, _ entry: StoreEntity) -> StoreError {
        StoreError(.invalidPredicate, "\(name) cannot be computed here. \(why).", entity: entry.entity.name)
    }
}
