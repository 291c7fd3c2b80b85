/// The parts of a migration that a backend performs itself: where the records and links of each target entity and link table come from.
///
/// Entities and link tables of the source schema that no part refers to are removed with their data.
public struct SchemaChange: Sendable {
    /// The origin of the records of a target entity.
    public enum EntitySource: Sendable, Hashable {
        /// The entity starts without records, and the caller inserts them through ``StoreMigration/target``.
        ///
        /// - Parameter rowIDsOf: The index of the source entity whose row id sequence the entity continues; `nil` starts a new sequence.
        case empty(rowIDsOf: Int?)
        /// The entity keeps the records of a source entity under the same row ids.
        ///
        /// - Parameters:
        ///   - entity: The index of the source entity. At most one target entity carries a source entity over.
        ///   - fields: The origin of each field of the target entity, by field index.
        case carried(entity: Int, fields: [FieldSource])
    }

    /// The origin of the values of a field in records that are carried over.
    public enum FieldSource: Sendable, Hashable {
        /// The same value in every record; ``Value/null`` only for an optional field.
        case constant(Value)
        /// The value of a source field.
        ///
        /// Both fields have one physical type, and the type of the target field contains every value of the type of the source field: see
        /// ``AttributeType/contains(valuesOf:)``.
        /// - Parameters:
        ///   - field: The index of the source field.
        ///   - replacingNullWith: The value that takes the place of null; ``Value/null`` keeps null.
        case field(Int, replacingNullWith: Value)
    }

    /// The origin of the pairs of a target link table.
    public enum LinkSource: Sendable, Hashable {
        /// The table starts without pairs, and the caller adds them through ``StoreMigration/target``.
        case empty
        /// The table keeps the pairs of a source link table and their positions.
        ///
        /// Both tables keep the same positions, if the sides of a reversed table are exchanged.
        /// - Parameters:
        ///   - table: The index of the source link table.
        ///   - isReversed: A Boolean value that indicates whether sources and targets exchange their sides.
        case carried(table: Int, isReversed: Bool)
    }

    /// The identifier by which a later attempt resumes the migration: two changes with equal identifiers, source and target schemas insert the same records
    /// in the same order.
    public let identifier: String
    /// The schema that the store was written for.
    public let source: ResolvedSchema
    /// The schema that the store has after the migration.
    public let target: ResolvedSchema
    /// The origin of the records of each target entity, by entity index.
    public let entities: [EntitySource]
    /// The origin of the pairs of each target link table, by ``LinkTable/index``.
    public let links: [LinkSource]

    /// Creates a change after checking that it is complete and consistent.
    ///
    /// - Throws: `misuse` for a missing part, an index out of range, a source that is carried over twice, or a field whose type does not contain the values
    ///   of its source.
    public init(
        identifier: String, source: ResolvedSchema, target: ResolvedSchema, entities: [EntitySource], links: [LinkSource]
    ) throws {
        self.identifier = identifier
        self.source = source
        self.target = target
        self.entities = entities
        self.links = links
        try check()
    }

    /// A Boolean value that indicates whether all records and links are carried over, so that the caller inserts none.
    public var carriesEverything: Bool {
        let entitiesAreCarried = zip(entities, target.entities).allSatisfy { part, entity in
            switch part {
            case .carried: true
            case .empty: source.entity(named: entity.name) == nil
            }
        }
        return entitiesAreCarried
            && links.allSatisfy { part in
                if case .carried = part { true } else { false }
            }
    }

    private func check() throws {
        guard entities.count == target.entities.count, links.count == target.links.count else {
            throw invalid(
                "it names the origin of \(entities.count) entities and \(links.count) link tables of \(target.entities.count) and \(target.links.count)"
            )
        }
        var carried: Set<Int> = []
        for (entity, part) in zip(target.entities, entities) {
            switch part {
            case .empty(let rowIDsOf):
                if let rowIDsOf, !source.entities.indices.contains(rowIDsOf) {
                    throw invalid("\(entity.name) continues the row ids of an unknown entity")
                }
            case .carried(let index, let fields):
                guard source.entities.indices.contains(index), carried.insert(index).inserted else {
                    throw invalid("\(entity.name) carries over an unknown entity, or one that another entity carries over")
                }
                try check(entity, fields, source.entities[index])
            }
        }
        var carriedLinks: Set<Int> = []
        for (table, part) in zip(target.links, links) {
            guard case .carried(let index, let isReversed) = part else { continue }
            guard source.links.indices.contains(index), carriedLinks.insert(index).inserted else {
                throw invalid("\(table.name) carries over an unknown link table, or one that another carries over")
            }
            let old = source.links[index]
            let orders = isReversed ? (old.ordersSources, old.ordersTargets) : (old.ordersTargets, old.ordersSources)
            guard orders == (table.ordersTargets, table.ordersSources), old.isSymmetric == table.isSymmetric else {
                throw invalid("\(table.name) keeps other positions than \(old.name)")
            }
        }
    }

    private func check(_ entity: Entity, _ fields: [FieldSource], _ old: Entity) throws {
        guard fields.count == entity.fields.count else {
            throw invalid("\(entity.name) has \(entity.fields.count) fields, and the origin of \(fields.count) is given")
        }
        for (field, part) in zip(entity.fields, fields) {
            switch part {
            case .constant(let value):
                if value.isNull, !field.isOptional { throw invalid("\(entity.name).\(field.name) is not optional and has no value") }
            case .field(let index, let replacement):
                guard old.fields.indices.contains(index) else { throw invalid("\(entity.name).\(field.name) comes from an unknown field") }
                let before = old.fields[index]
                guard field.type.contains(valuesOf: before.type) else {
                    throw invalid("\(entity.name).\(field.name) of type \(field.type.rawValue) cannot hold every \(before.type.rawValue)")
                }
                if before.isOptional, !field.isOptional, replacement.isNull {
                    throw invalid("\(entity.name).\(field.name) is not optional, \(old.name).\(before.name) is, and no value replaces null")
                }
            }
        }
    }

    private func invalid(_ reason: String) -> StoreError {
        StoreError(.misuse, "The schema change \(identifier) is not valid: \(reason).")
    }
}

extension AttributeType {
    /// Returns whether values of another type can be kept unchanged as values of this type: `float` as `double`, `url` and `json` as `string`, and integers
    /// as an integer type with wider bounds, except `bool` and `uint64`.
    public func contains(valuesOf other: AttributeType) -> Bool {
        if self == other { return true }
        switch (self, other) {
        case (.double, .float), (.string, .url), (.string, .json): return true
        case (.uint64, _), (_, .uint64), (_, .bool): return false
        default:
            guard physical == .integer, other.physical == .integer else { return false }
            let mine = integerBounds ?? Int64.min...Int64.max
            let theirs = other.integerBounds ?? Int64.min...Int64.max
            return self != .bool && mine.contains(theirs.lowerBound) && mine.contains(theirs.upperBound)
        }
    }
}
