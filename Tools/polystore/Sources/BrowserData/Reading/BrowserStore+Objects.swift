import PolyStoreBackend
import PolyStoreCore

extension BrowserStore {
    /// Returns an object with its values and its links; nil if the object does not exist.
    /// - Parameters:
    ///   - object: The object; its entity can be any of its hierarchy.
    ///   - related: The greatest number of related objects of each link.
    /// - Throws: `storeNotFound` for an entity that the store does not have, and the errors of the store.
    package func object(
        _ object: ObjectReference, related: Int = 5, wantsCost: Bool = false, timeLimit: Duration? = BrowserStore.defaultTimeLimit
    ) async throws -> ObjectPage? {
        _ = try model(object.entity)
        let id = try stack.objectID(object.entity, rowID: object.rowID)
        return try await reading(timeLimit: timeLimit) { [self] context in
            let (page, cost) = try context.pane(wantsPlans: wantsCost) { try ObjectReader(self, id, related, context)?.page() }
            return page?(cost)
        }
    }

    /// Returns the display name of an object; nil if the object does not exist.
    package func displayName(of object: ObjectReference) async throws -> String? {
        _ = try model(object.entity)
        let id = try stack.objectID(object.entity, rowID: object.rowID)
        return try await reading { [self] context in try relatedObjects([id], context).first?.name }
    }

    /// Returns the objects with ids, with their display names, in the order of the ids. Those that do not exist are left out.
    package func relatedObjects(_ ids: [AnyObjectID], _ context: Context) throws -> [RelatedObject] {
        var found: [AnyObjectID: RelatedObject] = [:]
        for (entity, ids) in Dictionary(grouping: ids, by: \.entityName) {
            let model = try model(entity)
            let models = [model] + allModels.filter { $0.root.name == model.root.name && $0.name != model.name }
            let kind = model.root.hierarchy == nil ? nil : EntityHierarchy.classifier
            let names = Set(models.compactMap(\.label)).sorted()
            var terms = [SelectTerm.objectID(as: "id")] + names.enumerated().map { SelectTerm($1.asPath, as: "n\($0)") }
            if let kind { terms.append(SelectTerm(kind.asPath, as: "kind")) }
            for row in try context.queryAttributes(EntityQuery(entity).where("objectID IN %@", ids), Select(terms)) {
                guard case .objectID(let id)? = row["id"] else { continue }
                let own = row["kind"]?.string ?? entity
                let label = (try? self.model(own))?.label.flatMap { label in names.firstIndex(of: label) }
                let text = label.flatMap { row["n\($0)"]?.string } ?? ""
                let reference = ObjectReference(entity: own, rowID: id.rowID)
                found[id] = RelatedObject(
                    reference: reference, name: text.isEmpty ? "\(own) \(id.rowID)" : BrowserValue(.text(text)).text)
            }
        }
        return ids.compactMap { found[$0] }
    }
}

/// Reads one object from a snapshot.
private struct ObjectReader {
    let store: BrowserStore
    let object: DynamicObject
    let model: EntityModel
    let related: Int
    let context: Context

    init?(_ store: BrowserStore, _ id: AnyObjectID, _ related: Int, _ context: Context) throws {
        guard let object = try context.fetchExisting(id) else { return nil }
        (self.store, self.object, self.context) = (store, object, context)
        self.related = max(0, min(related, RowsRequest.greatestSize))
        model = try store.model(object.entityName)
    }

    func page() throws -> (PaneCost) -> ObjectPage {
        let reference = ObjectReference(entity: model.name, rowID: object.id.rowID)
        let name = try store.relatedObjects([object.id], context).first?.name ?? "\(model.name) \(object.id.rowID)"
        let properties = try model.attributes.map {
            ObjectPage.Property(name: $0.name, type: $0.type, value: BrowserValue(try object.value($0.name), $0.type))
        }
        let own = try model.relationships.map(link)
        let incoming = try ([model.root.name] + (model.root.name == model.name ? [] : [model.name])).flatMap { name in
            try (store.incoming[name] ?? []).map(self.incoming)
        }
        return { cost in
            ObjectPage(object: reference, name: name, properties: properties, links: own + incoming, cost: cost)
        }
    }

    private func link(_ relationship: RelationshipDescription) throws -> ObjectPage.Link {
        let target = store.schema.target(of: relationship, from: model.root.name)
        func link(_ count: Int, _ ids: [AnyObjectID]) throws -> ObjectPage.Link {
            ObjectPage.Link(
                title: relationship.name, relationship: relationship.name, entity: target, incomingFrom: nil,
                isToMany: relationship.isToMany, isOrdered: relationship.isOrdered, deleteRule: relationship.deleteRule, count: count,
                first: try store.relatedObjects(ids, context))
        }
        guard relationship.isToMany else {
            let target = try object.object(relationship.name)
            return try link(target == nil ? 0 : 1, target.map { [$0.id] } ?? [])
        }
        if !relationship.isOrdered, let inverse = store.schema.inverse(of: relationship, from: model.root.name), !inverse.isToMany {
            let query = EntityQuery(target).where("\(inverse.name.asPath) == %@", object.id)
            return try link(context.fetchCount(query), context.fetchObjectIDs(query.orderBy(ColumnPlan.objectID).limit(related)))
        }
        let members = try object.objects(relationship.name)
        return try link(members.count, members.prefix(related).map(\.id))
    }

    private func incoming(_ incoming: IncomingLink) throws -> ObjectPage.Link {
        let relationship = incoming.relationship
        let query = EntityQuery(incoming.source)
            .where("\(relationship.isToMany ? "ANY " : "")\(relationship.name.asPath) == %@", object.id)
        let ids = try context.fetchObjectIDs(query.orderBy(ColumnPlan.objectID).limit(related))
        return ObjectPage.Link(
            title: "\(incoming.source).\(relationship.name)", relationship: relationship.name, entity: incoming.source,
            incomingFrom: incoming.source, isToMany: true, isOrdered: false, deleteRule: nil, count: try context.fetchCount(query),
            first: try store.relatedObjects(ids, context))
    }
}
