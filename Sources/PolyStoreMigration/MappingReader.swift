import PolyStoreBackend
import PolyStoreKernel

/// Determines which old entities become which new ones, from a mapping, the declared original names and equal names.
struct MappingReader {
    /// A closure of a mapping.
    struct TransformPart {
        let source: Int
        let targets: [Int]
        let body: EntityMapping.Transform
        /// A Boolean value that indicates whether the closure only changes the copy of each object.
        let isUpdate: Bool
        /// A Boolean value that indicates whether the closure is not called for the objects of removed classes, which are removed.
        let skipsRemovedClasses: Bool
    }

    private let source: ResolvedSchema
    private let target: ResolvedSchema
    private let mapping: SchemaMapping?
    /// A Boolean value that indicates whether entities that the old version has renamed get their former names back.
    private let isDowngrade: Bool
    /// The old entities that are migrated to each target entity, by entity index. The objects of the first one keep their row ids.
    private(set) var origins: [[Int]]
    private(set) var transforms: [TransformPart] = []
    /// The new names of properties, by old and new entity index.
    private(set) var renaming: [[Int]: [String: String]] = [:]
    /// The subentities that old entities become, by old and new entity index.
    private(set) var classNames: [[Int]: String] = [:]
    /// The problems that prevent the migration.
    private(set) var problems: [MigrationReport.Finding] = []

    init(_ source: ResolvedSchema, _ target: ResolvedSchema, _ mapping: SchemaMapping?, isDowngrade: Bool) {
        self.isDowngrade = isDowngrade
        self.source = source
        self.target = target
        self.mapping = mapping
        origins = Array(repeating: [], count: target.entities.count)
    }

    /// - Throws: `invalidSchema` for a mapping that contains an unknown entity, or an entity twice, and for two entities with one origin.
    mutating func read() throws {
        var claimed: Set<Int> = []
        var emptied: Set<Int> = []
        for part in mapping?.entities ?? [] {
            switch part.kind {
            case .copy(let from, let to, let names):
                let (old, new) = (try sourceEntity(from), try destination(to, of: try sourceEntity(from)))
                claimed.insert(old)
                guard !origins[new].contains(old) else { throw invalid("\(from) is copied to \(to) twice; name it once") }
                origins[new].append(old)
                renaming[[old, new]] = names
            case .transform(let from, let to, let isUpdate, let body):
                let old = try sourceEntity(from)
                guard !transforms.contains(where: { $0.source == old }) else {
                    throw invalid("\(from) is transformed twice; do both in one closure")
                }
                claimed.insert(old)
                var targets: [Int] = []
                for name in to {
                    let new = try destination(name, of: old)
                    if !targets.contains(new) { targets.append(new) }
                }
                for new in targets where !origins[new].contains(old) { origins[new].append(old) }
                transforms.append(
                    TransformPart(
                        source: old, targets: targets, body: body, isUpdate: isUpdate,
                        skipsRemovedClasses: isUpdate && to == targets.map { target.entities[$0].name }))
            case .empty(let to): emptied.insert(try targetEntity(to))
            case .delete(let from): claimed.insert(try sourceEntity(from))
            }
        }
        let renames = Renames(
            old: source.entities.map { ($0.name, $0.description.originalName) },
            new: target.entities.map { ($0.name, $0.description.originalName) }, isDowngrade: isDowngrade)
        if let (first, second, origin) = renames.conflict {
            throw StoreError(
                .invalidSchema, "The entities \(first) and \(second) both continue the entity \(origin). Remove one of the declarations.",
                entity: second)
        }
        for entity in target.entities where !emptied.contains(entity.index) {
            guard let old = renames.oldNames[entity.name].flatMap({ source.entity(named: $0) }), !claimed.contains(old.index) else {
                continue
            }
            // An entity that a mapping also fills keeps its own objects, with their row ids.
            origins[entity.index].insert(old.index, at: 0)
        }
        let reached = Set(origins.joined()).union(claimed)
        for old in source.entities where !reached.contains(old.index) { try becomeSubentity(old) }
    }

    /// Finds the subentity of a new hierarchy that has the name of an old entity.
    private mutating func becomeSubentity(_ old: Entity) throws {
        for entity in target.entities {
            let parts = entity.classes.dropFirst()
            guard let part = parts.first(where: { $0.originalName == old.name }) ?? parts.first(where: { $0.name == old.name }) else {
                continue
            }
            // A subentity of the old version continues it.
            if source.entities.contains(where: { $0.classes.dropFirst().contains { $0.name == part.name } }) { continue }
            guard !part.isAbstract else {
                problems.append(
                    MigrationReport.Finding(
                        .refused, old.name, nil,
                        "\(old.name) becomes an abstract subentity of \(entity.name), so its objects must become objects of an entity below it. Choose the entity in a "
                            + "schema mapping."))
                return
            }
            origins[entity.index].append(old.index)
            classNames[[old.index, entity.index]] = part.name
            return
        }
    }

    /// Returns the entity that stores the objects of an entity or subentity of the new version.
    private mutating func destination(_ name: String, of old: Int) throws -> Int {
        let index = try targetEntity(name)
        let entity = target.entities[index]
        if entity.name != name, classNames[[old, index]] == nil {
            guard let part = entity.classes.first(where: { $0.name == name }), !part.isAbstract else {
                throw invalid("\(name) is abstract and has no objects; choose an entity below it")
            }
            classNames[[old, index]] = name
        }
        return index
    }

    private func sourceEntity(_ name: String) throws -> Int {
        if let entity = source.entity(named: name) { return entity.index }
        throw invalid("there is no entity \(name) in the old version, which has \(source.entities.map(\.name).joined(separator: ", "))")
    }

    private func targetEntity(_ name: String) throws -> Int {
        if let entity = target.entity(named: name) { return entity.index }
        if let entity = target.entities.first(where: { $0.classes.contains { $0.name == name } }) { return entity.index }
        let known = target.entities.flatMap { $0.classes.map(\.name) }.joined(separator: ", ")
        throw invalid("there is no entity \(name) in the new version, which has \(known)")
    }

    private func invalid(_ reason: String) -> StoreError {
        StoreError(
            .invalidSchema, "The mapping from \"\(mapping?.source ?? "")\" to \"\(mapping?.destination ?? "")\" cannot be used: \(reason).")
    }
}
