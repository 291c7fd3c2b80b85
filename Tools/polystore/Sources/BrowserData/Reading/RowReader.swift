import PolyStoreBackend
import PolyStoreCore

/// Reads pages of rows from a snapshot.
struct RowReader {
    let store: BrowserStore
    let request: RowsRequest
    let model: EntityModel
    let columns: ColumnPlan

    init(_ request: RowsRequest, _ store: BrowserStore) throws {
        (self.request, self.store) = (request, store)
        model = try store.model(request.entity)
        columns = try ColumnPlan(request.columns, of: model, in: store)
    }

    /// The rows of a page, with the tokens of the pages beside it.
    struct Found {
        var keys: [RowKey] = []
        var previous: PageToken?
        var next: PageToken?

        var ids: [AnyObjectID] { keys.map(\.id) }
    }

    private var size: Int { max(1, min(request.size, RowsRequest.greatestSize)) }

    /// Whether the rows are in the order of their scores.
    var isByScore: Bool { request.order == nil && !request.search.isEmpty }

    /// The order of the page; nil for that of the scores.
    var order: RowsRequest.Order? { isByScore ? nil : request.order ?? RowsRequest.Order(ColumnPlan.objectID) }

    /// Finds the rows of the page.
    /// - Parameter key: The row that the page follows, in place of the position of the request; nil for that.
    func find(_ context: Context, after key: RowKey? = nil) throws -> Found {
        if isByScore { return try findByScore(context) }
        let isAscending = order?.isAscending ?? true
        let keys = try self.keys(context)
        /// Returns one row more than a page has, which shows whether a further page exists. The rows are in the order of the page.
        func read(forwards: Bool, from place: RowKeys.Place?) throws -> [RowKey] {
            let found = forwards == isAscending ? try keys.following(place, size + 1) : try keys.preceding(place, size + 1)
            return isAscending ? found : found.reversed()
        }
        if let key {
            return page(try read(forwards: true, from: RowKeys.Place(value: key.value, rowID: key.id.rowID)), forwards: true, from: nil)
        }
        switch request.position {
        case .first: return page(try read(forwards: true, from: nil), forwards: true, from: nil)
        case .last: return page(try read(forwards: false, from: nil), forwards: false, from: nil)
        case .after(let token): return page(try read(forwards: true, from: place(token, context)), forwards: true, from: token)
        case .before(let token):
            let rows = try read(forwards: false, from: place(token, context))
            // Rows before the token may have been deleted. The first page then has as many rows as any other.
            if rows.count < size { return page(try read(forwards: true, from: nil), forwards: true, from: nil) }
            return page(rows, forwards: false, from: token)
        }
    }

    private func page(_ rows: [RowKey], forwards: Bool, from token: PageToken?) -> Found {
        let shown = forwards ? rows.prefix(size) : rows.suffix(size)
        let hasFurther = rows.count > size
        var found = Found(keys: Array(shown))
        if forwards {
            found.next = hasFurther ? shown.last?.token : nil
            found.previous = token == nil ? nil : shown.first?.token ?? token
        } else {
            found.previous = hasFurther ? shown.first?.token : nil
            found.next = token == nil ? nil : shown.last?.token ?? token
        }
        return found
    }

    // MARK: Scores

    private func findByScore(_ context: Context) throws -> Found {
        let start = try rowsBefore(context)
        let ids = try context.fetchObjectIDs(ranked(context).offset(start).limit(size + 1))
        var found = Found(keys: ids.prefix(size).map { RowKey(value: nil, id: $0) })
        if ids.count > size { found.next = PageToken(value: nil, rowID: Int64(start + size)) }
        if start > 0 { found.previous = PageToken(value: nil, rowID: Int64(max(0, start - size))) }
        return found
    }

    private func ranked(_ context: Context) throws -> EntityQuery {
        try base(context, searches: false).search(request.search, in: request.searchIndex)
    }

    /// Returns the number of rows before the page.
    private func rowsBefore(_ context: Context) throws -> Int {
        switch request.position {
        case .first: 0
        case .last: max(0, (try context.fetchCount(base(context)) - 1) / size * size)
        case .after(let token), .before(let token): Int(clamping: max(0, min(token.rowID, 1 << 40)))
        }
    }

    /// Returns the ids of all rows from the page on, in the order of their scores.
    func rankedIDs(_ context: Context) throws -> [AnyObjectID] {
        let start = try rowsBefore(context)
        return try context.fetchObjectIDs(start == 0 ? ranked(context) : ranked(context).offset(start))
    }

    // MARK: Conditions

    /// Returns the objects that the page selects from, without an order.
    /// - Parameter searches: Whether the full-text search is one of the conditions.
    func base(_ context: Context, searches: Bool = true) throws -> EntityQuery {
        var query = EntityQuery(model.name)
        if !request.filter.allSatisfy(\.isWhitespace) { query = query.where(request.filter, arguments: []) }
        if searches, !request.search.isEmpty {
            let index = request.searchIndex.isEmpty ? "" : "['\(request.searchIndex.escapedForText)']"
            query = query.where("SEARCH\(index) %@", request.search)
        }
        for link in request.links { query = try store.linked(query, link, context) }
        return query
    }

    /// A Boolean value that indicates whether all objects of the entity or subentity are selected.
    var selectsAll: Bool { request.filter.allSatisfy(\.isWhitespace) && request.search.isEmpty && request.links.isEmpty }

    /// A Boolean value that indicates whether all objects of the entity of the store are selected, so that its indexes have no others.
    var isWhole: Bool { selectsAll && model.parent == nil }

    private func keys(_ context: Context) throws -> RowKeys {
        let base = try base(context)
        let whole = isWhole || !request.search.isEmpty || !request.links.isEmpty ? nil : EntityQuery(model.root.name)
        guard let order, order.term != ColumnPlan.objectID else {
            return RowKeys(
                store: store, context: context, entity: model.name, base: base, path: nil, orderPath: ColumnPlan.objectID,
                isOptional: false, isUnique: true, isIndexed: true, whole: whole)
        }
        let names = PathNames(order.term)
        let property = store.property(at: order.term, of: model)
        var (isOptional, isUnique) = (true, false)
        if names?.names.count == 1, case .attribute(let attribute)? = property {
            (isOptional, isUnique) = (attribute.isOptional, attribute.isUnique)
        }
        // The index of the order finds the beginning of what a condition on the same property selects.
        let isServed = names?.names.count == 1 && names.map { request.filter.contains($0.names[0]) } ?? false
        return RowKeys(
            store: store, context: context, entity: model.name, base: base, path: names == nil ? "(\(order.term))" : order.term,
            orderPath: property == nil ? order.term : names?.order ?? order.term, isOptional: isOptional, isUnique: isUnique,
            isIndexed: names.map { $0.names.count == 1 && model.isIndexedAlone($0.names[0]) } ?? false, whole: isServed ? nil : whole)
    }

    /// Returns the place of a token.
    private func place(_ token: PageToken, _ context: Context) throws -> RowKeys.Place {
        switch token.place {
        case .value(let value): return RowKeys.Place(value: value, rowID: token.rowID)
        case .row(let rowID):
            guard let term = order?.term, case .relationship(let relationship)? = store.property(at: term, of: model) else {
                throw invalid(token)
            }
            return RowKeys.Place(value: .objectID(try store.stack.objectID(relationship.destination, rowID: rowID)), rowID: token.rowID)
        case .tooLong(let fingerprint):
            guard let term = order?.term else { throw invalid(token) }
            let id = try store.stack.objectID(model.name, rowID: token.rowID)
            let rows = try context.queryAttributes(
                EntityQuery(model.name).where("objectID == %@", id), Select(SelectTerm(term, as: "key"), .objectID(as: "id")))
            guard let row = rows.first else {
                throw StoreError(
                    .notFound,
                    "The row at which the page begins was deleted, and its value is too long for the address. Go to the first page.",
                    entity: model.name, rowID: token.rowID)
            }
            // The rows beside the new value are others than those beside the one that the page had.
            guard PageToken.fingerprint(row["key"]) == fingerprint else {
                throw StoreError(
                    .notFound,
                    "The row at which the page begins has another value now, and the one before is too long for the address. Go to the first page.",
                    entity: model.name, rowID: token.rowID)
            }
            return RowKeys.Place(value: row["key"], rowID: token.rowID)
        }
    }

    private func invalid(_ token: PageToken) -> StoreError {
        StoreError(.misuse, "The page \"\(token)\" belongs to another order. Go to the first page.", entity: model.name)
    }
}

extension String {
    /// The text within single quotes of format strings.
    package var escapedForText: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\\", "'": text += "\\" + String(scalar)
            case "\0"..<" ", "\u{7f}": text += "\\x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
