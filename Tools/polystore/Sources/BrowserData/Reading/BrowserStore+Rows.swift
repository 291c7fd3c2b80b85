import PolyStoreBackend
import PolyStoreCore

extension BrowserStore {
    /// Returns a page of rows. Its time does not depend on the position of the page if an index has the order.
    /// - Throws: ``FilterMistake`` for a mistake in the filter, `storeNotFound` for an entity that the store does not have, `invalidPredicate` for a column, an order or a search that the
    ///   entity does not have, `timedOut` and `cancelled`, and the errors of the store.
    package func rows(_ request: RowsRequest, timeLimit: Duration? = BrowserStore.defaultTimeLimit) async throws -> RowsPage {
        let reader = try RowReader(request, self)
        return try await mistakes(request.filter, of: request.entity) {
            try await reading(timeLimit: timeLimit) { context in
                let (page, cost) = try context.pane(wantsPlans: request.wantsCost) {
                    let found = try reader.find(context)
                    return (found: found, rows: try reader.columns.shown(found.ids, in: context))
                }
                return RowsPage(
                    columns: reader.columns.columns, rows: page.found.ids.compactMap { page.rows[$0.rowID] }, order: reader.order,
                    previous: page.found.previous, next: page.found.next, cost: cost)
            }
        }
    }

    /// Returns the number of objects that the pages of a request have together.
    /// - Throws: As ``rows(_:timeLimit:)``.
    package func count(_ request: RowsRequest, timeLimit: Duration? = BrowserStore.defaultTimeLimit) async throws -> Int {
        let reader = try RowReader(request, self)
        return try await mistakes(request.filter, of: request.entity) {
            try await reading(timeLimit: timeLimit) { context in try context.fetchCount(reader.base(context)) }
        }
    }

    /// Returns the indexes that would let the rows of a request be found by reading fewer, each as a sentence with its declaration; none if no index would help.
    ///
    /// The request is executed, and the rows of each possible index are counted.
    /// - Throws: As ``rows(_:timeLimit:)``.
    package func advice(for request: RowsRequest, timeLimit: Duration? = BrowserStore.defaultTimeLimit) async throws -> [String] {
        let reader = try RowReader(request, self)
        return try await mistakes(request.filter, of: request.entity) {
            try await reading(timeLimit: timeLimit) { context in
                var query = try reader.base(context).limit(request.size)
                if let order = reader.order {
                    query = query.orderBy(
                        order.term == ColumnPlan.objectID ? order.term : PathNames(order.term)?.order ?? order.term,
                        ascending: order.isAscending)
                }
                return try context.indexAdvice(query).map(\.description)
            }
        }
    }

    // MARK: Links

    /// Restricts a query to the objects that a relationship of one object leads to, or that lead to one object.
    func linked(_ query: EntityQuery, _ link: RowsRequest.Link, _ context: Context) throws -> EntityQuery {
        let id = try stack.objectID(link.object.entity, rowID: link.object.rowID)
        func leading(_ relationship: RelationshipDescription) -> EntityQuery {
            query.where("\(relationship.isToMany ? "ANY " : "")\(relationship.name.asPath) == %@", id)
        }
        if let source = link.incomingFrom { return leading(try relationship(link.relationship, of: model(source))) }
        let model = try model(link.object.entity)
        let relationship = try relationship(link.relationship, of: model)
        if let inverse = schema.inverse(of: relationship, from: model.root.name) { return leading(inverse) }
        let object = try context.fetchExisting(id)
        let ids: [AnyObjectID]
        if relationship.isToMany {
            ids = try object?.objects(relationship.name).map(\.id) ?? []
        } else {
            ids = try object?.object(relationship.name).map { [$0.id] } ?? []
        }
        return query.where("objectID IN %@", ids)
    }

    func relationship(_ name: String, of model: EntityModel) throws -> RelationshipDescription {
        if let found = model.relationship(name) { return found }
        throw StoreError(.misuse, "\(model.name) has no relationship \"\(name)\".", entity: model.name, attribute: name)
    }

    // MARK: Mistakes

    /// Calls a function, and turns an error about the filter into one with its place.
    func mistakes<T: Sendable>(_ filter: String, of entity: String, _ body: () async throws -> T) async throws -> T {
        do { return try await body() } catch let error as StoreError where error.code == .invalidPredicate {
            // An error of a column or of the order is not one of the filter.
            guard let mistake = await checkFilter(filter, of: entity) else { throw error }
            throw mistake
        }
    }

    /// Returns the mistake of a condition, with its place; nil for a valid one. Nothing is read for it.
    package func checkFilter(_ filter: String, of entity: String) async -> FilterMistake? {
        guard !filter.allSatisfy(\.isWhitespace) else { return nil }
        do {
            let query = EntityQuery(try model(entity).name).where(filter, arguments: []).limit(0)
            _ = try await reading { try $0.fetchObjectIDs(query) }
            return nil
        } catch {
            return FilterMistake(error, in: filter)
        }
    }
}
