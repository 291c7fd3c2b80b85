import PolyStoreBackend
import PolyStoreKernel

/// A number as a type. The kernel distinguishes entities by the class of their objects, and a schema that is read from a store has any number of entities, so the
/// class ``ObjectOfEntity`` has one of these types for each entity. The types are created when a schema is registered.
protocol EntityNumber {
    static var number: Int { get }
}

enum NoDigits: EntityNumber {
    static var number: Int { 0 }
}

/// A number whose last binary digit is 0.
enum ZeroDigit<Rest: EntityNumber>: EntityNumber {
    static var number: Int { Rest.number << 1 }
}

/// A number whose last binary digit is 1.
enum OneDigit<Rest: EntityNumber>: EntityNumber {
    static var number: Int { Rest.number << 1 | 1 }
}

/// The entities of all schemas without classes that the process has opened.
enum KnownEntities {

    private struct State {
        var entities: [Entity] = []
        /// The properties of each class, created at their first use.
        var properties: [Int: ModelProperties] = [:]
        var types: [SchemaDescription: [any Model.Type]] = [:]
    }

    private static let state = Protected(State())

    static func entity(_ number: Int) -> Entity { state.withLock { $0.entities[number] } }

    /// Returns a class for each entity of a schema, in their order. Equal schemas have the same classes, so that a process that opens stores again and again does not grow.
    /// - Throws: `invalidSchema`.
    static func types(of stored: SchemaDescription) throws -> [any Model.Type] {
        let schema = stored.withoutSamples
        if let known = state.withLock({ $0.types[schema] }) { return known }
        let entities = try ResolvedSchema(schema).entities
        return state.withLock { state in
            if let known = state.types[schema] { return known }
            let first = state.entities.count
            state.entities += entities
            let types = entities.indices.map { type(numbered: first + $0) }
            state.types[schema] = types
            return types
        }
    }

    static func properties<N: EntityNumber>(_ type: ObjectOfEntity<N>.Type) -> ModelProperties {
        if let known = state.withLock({ $0.properties[N.number] }) { return known }
        let properties = ModelProperties(type, [])
        state.withLock { $0.properties[N.number] = properties }
        return properties
    }

    private static func type(numbered number: Int) -> any Model.Type {
        func object<N: EntityNumber>(_ type: N.Type) -> any Model.Type { ObjectOfEntity<N>.self }
        return object(digits(of: number))
    }

    private static func digits(of number: Int) -> any EntityNumber.Type {
        guard number > 0 else { return NoDigits.self }
        func zero<Rest: EntityNumber>(_ rest: Rest.Type) -> any EntityNumber.Type { ZeroDigit<Rest>.self }
        func one<Rest: EntityNumber>(_ rest: Rest.Type) -> any EntityNumber.Type { OneDigit<Rest>.self }
        let rest = digits(of: number >> 1)
        return number & 1 == 0 ? zero(rest) : one(rest)
    }
}

extension SchemaDescription {
    /// The schema with equal values in place of those that an expression gave when the store was created.
    fileprivate var withoutSamples: SchemaDescription {
        var copy = self
        for entity in copy.entities.indices {
            copy.entities[entity].properties = copy.entities[entity].properties.map { property in
                guard case .attribute(var attribute) = property, attribute.defaultValue != nil else { return property }
                switch attribute.defaultExpression {
                case .uuid?: attribute.defaultValue = .blob([UInt8](repeating: 0, count: 16))
                case .date?: attribute.defaultValue = .real(0)
                case .computed?, nil: return property
                }
                return .attribute(attribute)
            }
        }
        return copy
    }
}
