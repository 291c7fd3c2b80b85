import Foundation
import PolyStoreBackend
import PolyStoreKernel
import PolyStoreQuery

// The new objects of a batch, checked and written together.
extension MappingWork {
    /// Writes and releases the pending objects.
    func finishBatch() throws {
        try flush()
        try checkAmbiguity()
        pending = [:]
        nextPositions = [:]
    }

    /// Checks that the mapping has chosen among the candidates of each to-one relationship.
    func checkAmbiguity() throws {
        let unsettled = pending.values.filter { !$0.isDeleted && !$0.ambiguous.isEmpty }
        guard let object = unsettled.min(by: { $0.position < $1.position }),
            let relationship = object.ambiguous.min(by: { $0.key < $1.key })?.value
        else { return }
        throw StoreError(
            .constraint,
            "\(object.entity.name).\(relationship.name) of object \(object.rowID) leads to one object, and the old version relates the object to several. Choose the object in the "
                + "schema mapping, or allow lost links in the policy of the migration.", entity: object.entity.name,
            attribute: relationship.name, rowID: object.rowID)
    }

    /// Writes the pending objects. They remain usable.
    func flush() throws {
        try checkFailure()
        guard !unwritten.isEmpty || !links.isEmpty else { return }
        let objects = unwritten.sorted { $0.position < $1.position }
        let changes = ChangeSet(plan.target)
        for object in objects { try write(object, to: changes) }
        for link in links where !isDeleted(link) { changes.link(link) }
        try apply(changes)
        links = []
        unwritten = []
        for object in objects { object.wasWritten() }
    }

    func write(_ object: NewObject, to changes: ChangeSet) throws {
        let entity = object.entity
        if object.isDeleted {
            guard !object.isInsert else { return }
            changes.delete(entity, rowID: object.rowID)
            return try removeLinks(of: object, changes)
        }
        guard object.isInsert || !object.changed.isEmpty else { return }
        for field in entity.fields where object.values[field.index].isNull && !field.isOptional && field.relationship == nil {
            throw missing(field, entity, object.rowID)
        }
        try checkRequired(object)
        func encode(_ builder: inout RecordBuilder) throws {
            for (field, value) in zip(entity.fields, object.values) where !value.isNull { try builder.set(field, value) }
        }
        if object.isInsert {
            try changes.insert(entity, rowID: object.rowID, encode)
        } else {
            try changes.update(entity, rowID: object.rowID, mask: object.changed, encode)
        }
        if let change = changes.changes.last { try checkRules(entity, object.rowID, changes.record(change)) }
    }

    /// Checks the required attributes of subentities, which are optional in the combined entity.
    func checkRequired(_ object: NewObject) throws {
        let entity = object.entity
        guard entity.classifierField != nil, let part = entity.classes.first(where: { $0.name == object.entityName }) else { return }
        for field in entity.fields where part.fields.contains(field.index) && object.values[field.index].isNull {
            if field.relationship == nil, entity.requiresInSubentity(field.name) { throw missing(field, entity, object.rowID) }
        }
    }

    /// Returns whether either end of a pair is a deleted object.
    func isDeleted(_ link: ChangeSet.LinkChange) -> Bool {
        let table = plan.target.links[link.table]
        return pending[Key(entity: table.source, id: link.source)]?.isDeleted ?? false
            || pending[Key(entity: table.target, id: link.target)]?.isDeleted ?? false
    }

    private func removeLinks(of object: NewObject, _ changes: ChangeSet) throws {
        for relationship in plan.target.entities.flatMap(\.relationships) {
            guard case .link(let table, _) = relationship.storage, let reversed = relationship.reversed else { continue }
            for end in [relationship, reversed] where end.source == object.entity.index {
                for other in try migration.target.related(end, of: [object.rowID])[object.rowID] {
                    changes.link(
                        ChangeSet.LinkChange(
                            table: table, source: end.isReversedLink ? other : object.rowID,
                            target: end.isReversedLink ? object.rowID : other,
                            isAddition: false))
                }
            }
        }
    }
}
