/// An entity in the list of all.
package struct EntitySummary: Sendable {
    package let model: EntityModel
    /// The number of objects, with those of subentities.
    package let count: Int
    /// The number of levels above the entity in its hierarchy; 0 for a root and outside of hierarchies.
    package let level: Int

    /// The name of the entity or subentity.
    package var name: String { model.name }
}

extension BrowserStore {
    /// Returns all entities and subentities with the numbers of their objects, in order of declaration; a subentity follows its superentity.
    package func entities() async throws -> [EntitySummary] {
        let counts = try await store.statistics().objectCounts
        var levels: [String: Int] = [:]
        /// The statistics count the objects of each subentity alone.
        func count(_ model: EntityModel) -> Int {
            model.subentities.reduce(counts[model.name] ?? 0) { $0 + ((try? self.model($1)).map(count) ?? 0) }
        }
        return allModels.map { model in
            let level = model.parent.map { (levels[$0] ?? 0) + 1 } ?? 0
            levels[model.name] = level
            return EntitySummary(model: model, count: count(model), level: level)
        }
    }
}
