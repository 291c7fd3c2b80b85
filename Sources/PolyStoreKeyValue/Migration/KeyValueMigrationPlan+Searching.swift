import PolyStoreBackend
import PolyStoreQuery

extension KeyValueMigrationPlan {
    /// Gives the full-text indexes of carried entities whose texts are the same their numbers. The others are built after the migration.
    static func carrySearchIndexes(_ change: SchemaChange, _ source: Catalog, _ target: inout Catalog, _ location: String) throws {
        target.omitsNewSearchIndexes = true
        var taken: Set<UInt32> = []
        for entity in change.target.entities {
            for index in entity.searchIndexes {
                guard let old = try carried(index, entity, change, source, location), taken.insert(old).inserted else { continue }
                target.searchIndexes[SearchIndexEntry.Name(index, entity: try target.number(of: entity, location))] = old
            }
        }
    }

    /// Returns the number of the source index with the same texts; `nil` if there is none.
    private static func carried(
        _ index: SearchIndex, _ entity: Entity, _ change: SchemaChange, _ source: Catalog, _ location: String
    ) throws -> UInt32? {
        guard let (old, fields) = change.searchOrigin(of: index, entity) else { return nil }
        let name = SearchIndexEntry.Name(entity: try source.number(of: old, location), fields: fields, options: index.options)
        return source.searchIndexes[name]
    }

    /// Drops the full-text indexes that are not carried, and adds the new ones, which the background work of the next opening builds.
    func writeSearchIndexes(_ writer: any EngineWriter) throws {
        var number = try SearchIndexEntry.firstFree(source.searchIndexes.values, writer)
        let kept = Set(target.searchIndexes.values)
        for number in source.searchIndexes.values where !kept.contains(number) { try SearchIndexEntry.drop(number, writer) }
        for (name, number) in target.searchIndexes {
            let entry = try SearchIndexEntry(number, writer, location: location)
            try SearchIndexEntry(name, entry.state).write(number, writer)
        }
        let new = Set(change.target.searchNames(target.entities)).subtracting(target.searchIndexes.keys)
        for name in new.sorted(by: SearchIndexEntry.Name.precedes) {
            try SearchIndexEntry(name, .building(through: nil)).write(number, writer)
            number += 1
        }
    }
}
