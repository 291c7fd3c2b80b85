import BrowserData
import Hummingbird

import struct PolyStoreBackend.StoreError

/// The rows of an entity, with their filter, their order and their facets.
enum RowsView {
    static let route = Route.page { request in
        var rows = try RowsRequest(request)
        rows.wantsCost = request.query["cost"] != "0"
        let model = try request.site.store.model(rows.entity)
        var page = Page(template: "rows", title: model.name, entity: model.name, formats: ["json", "csv"])
        page.liveAddress = HistoryView.liveAddress(since: try await request.site.store.historyPoint())
        page.view = RowsForm.view(rows, model, request)
        if !rows.links.isEmpty { page.title = try await title(rows.links, request.site.store) }
        do {
            let answer = try await request.site.store.rows(rows, timeLimit: request.site.options.deadline)
            add(answer, to: &page.view, rows, request)
            try await addTotal(to: &page.view, rows, request)
            try await addCost(answer.cost, to: &page.view, rows, request)
            try await FacetPane.add(to: &page.view, rows, request)
        } catch let mistake as FilterMistake {
            page.status = .badRequest
            MistakeView.add(mistake, in: rows.filter, field: "Filter", to: &page.view)
        } catch let error as StoreError where error.code == .invalidPredicate {
            // The mistake is in the search, the order or a column.
            page.status = .badRequest
            MistakeView.add(error.message, to: &page.view)
        }
        return page.response(request)
    }

    /// Returns the heading of the rows that relationships of objects lead to.
    private static func title(_ links: [RowsRequest.Link], _ store: BrowserStore) async throws -> String {
        var parts: [String] = []
        for link in links {
            let name = try await store.displayName(of: link.object) ?? Addresses.text(link.object)
            parts.append(link.incomingFrom.map { "\($0).\(link.relationship): \(name)" } ?? "\(link.relationship) of \(name)")
        }
        return parts.joined(separator: "; ")
    }

    /// Adds the number of all rows if the address requests it. Without an index counting takes as long as reading the rows.
    private static func addTotal(to view: inout View, _ rows: RowsRequest, _ request: BrowserRequest) async throws {
        guard request.query["total"] != nil else {
            view["totalAddress"] = request.query.with([("total", "1")]).address("/rows")
            return
        }
        let total = try await request.site.store.count(rows, timeLimit: request.site.options.deadline)
        view["totalText"] = "\(total) in all."
    }

    /// The time of a scan, in milliseconds, up to which the page also looks for an index that would help. For a longer one it has a link.
    private static let adviceLimit = 250.0

    private static func addCost(_ cost: PaneCost, to view: inout View, _ rows: RowsRequest, _ request: BrowserRequest) async throws {
        let isAsked = request.query["advise"] != nil
        // An index cannot shorten a scan of all rows in the order of their ids.
        let isSelective = !rows.filter.isEmpty || rows.order != nil
        let advises = cost.isScan && isSelective && (isAsked || cost.milliseconds < adviceLimit)
        let advice = advises ? try await request.site.store.advice(for: rows, timeLimit: request.site.options.deadline) : []
        CostView.add(cost, advice: advice, to: &view, title: "Cost of the rows")
        view["adviceAddress"] = cost.isScan && isSelective && !advises ? request.query.with([("advise", "1")]).address("/rows") : nil
        if isAsked, advice.isEmpty { view["adviceText"] = "No index would let these rows be found by reading fewer." }
    }

    // MARK: Rows

    private static func add(_ page: BrowserData.RowsPage, to view: inout View, _ rows: RowsRequest, _ request: BrowserRequest) {
        view["hasRows"] = !page.rows.isEmpty
        view["countText"] =
            page.rows.isEmpty ? "No rows." : page.rows.count == 1 ? "1 row on this page." : "\(page.rows.count) rows on this page."
        view["columns"] = page.columns.map { column($0, page.order, request.query) }
        let label = (try? request.site.store.model(rows.entity).label).flatMap { label in
            page.columns.firstIndex { $0.term == label?.asPath }
        }
        let wholes = page.columns.map { wholeProperty($0, of: rows.entity, request.site.store) }
        view["rows"] = page.rows.map { row($0, wholes, label) }
        view["pages"] = pages(page, request.query)
    }

    private static func column(_ column: RowColumn, _ order: RowsRequest.Order?, _ query: QueryItems) -> View {
        let isSorted = order?.term == column.term
        let next = RowsRequest.Order(column.term, isAscending: !(isSorted && order?.isAscending == true))
        return [
            "name": column.title, "isSorted": isSorted, "direction": order?.isAscending == false ? "descending" : "ascending",
            "orderAddress": at(nil, query.with([("order", next.item)])),
            "style": column.type?.isNumber == true ? "number" : "",
        ]
    }

    /// Returns the attribute of the object itself whose value a column shows; nil for a value of another object and for a calculation.
    private static func wholeProperty(_ column: RowColumn, of entity: String, _ store: BrowserStore) -> String? {
        guard let names = PathNames(column.term)?.names, names.count == 1, (try? store.model(entity))?.attribute(names[0]) != nil else {
            return nil
        }
        return names[0]
    }

    /// - Parameter wholes: The attribute whose whole value a cell leads to, for each column; nil for none.
    private static func row(_ row: BrowserData.RowsPage.Row, _ wholes: [String?], _ label: Int?) -> View {
        let name = label.map { row.values[$0] }.flatMap { $0.isNull ? nil : $0.text }
        let cells = zip(wholes, row.values).map { property, value in
            CellView.view(value, whole: property.map { Addresses.value($0, of: row.object) })
        }
        return [
            "reference": Addresses.text(row.object), "address": Addresses.object(row.object),
            "displayName": row.object.named(name), "cells": cells,
        ]
    }

    private static func pages(_ page: BrowserData.RowsPage, _ query: QueryItems) -> [View] {
        var result: [View] = []
        func add(_ title: String, _ key: String, _ relation: String, _ item: (String, String)?) {
            result.append(["title": title, "key": key, "relation": relation, "address": at(item, query)])
        }
        if let token = page.previous {
            add("First page", "[", "first", nil)
            add("Previous page", "p", "prev", ("before", "\(token)"))
        }
        if let token = page.next {
            add("Next page", "n", "next", ("after", "\(token)"))
            add("Last page", "]", "last", ("page", "last"))
        }
        return result
    }

    /// Returns the address of the rows at another position.
    private static func at(_ item: (String, String)?, _ query: QueryItems) -> String {
        query.without(RowsRequest.positionNames).adding(item.map { [(name: $0.0, value: $0.1)] } ?? []).address("/rows")
    }
}
