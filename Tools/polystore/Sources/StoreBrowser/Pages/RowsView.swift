import BrowserData
import Hummingbird

/// The rows of an entity, with their filter, their order and their facets.
enum RowsView {
    static let route = Route.page { request in
        var rows = try RowsRequest(request)
        rows.wantsCost = request.query["cost"] != "0"
        let model = try request.site.store.model(rows.entity)
        var page = Page(template: "rows", title: model.name, entity: model.name, formats: ["json", "csv"])
        page.liveAddress = HistoryView.liveAddress(since: try await request.site.store.historyPoint())
        page.view = form(rows, model, request)
        if let link = rows.link { page.title = try await title(link, request.site.store) }
        do {
            let answer = try await request.site.store.rows(rows, timeLimit: request.site.options.deadline)
            add(answer, to: &page.view, rows, request)
            try await addTotal(to: &page.view, rows, request)
            try await addCost(answer.cost, to: &page.view, rows, request)
            try await FacetPane.add(to: &page.view, rows, model, request)
        } catch let mistake as FilterMistake {
            page.status = .badRequest
            MistakeView.add(mistake, in: rows.filter, to: &page.view)
        }
        return page.response(request)
    }

    /// Returns the heading of the rows that a relationship of an object leads to.
    private static func title(_ link: RowsRequest.Link, _ store: BrowserStore) async throws -> String {
        let name = try await store.displayName(of: link.object) ?? Addresses.text(link.object)
        return link.incomingFrom.map { "\($0).\(link.relationship): \(name)" } ?? "\(link.relationship) of \(name)"
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

    // MARK: Form

    private static let sizes = [25, 50, 100, 250, 1000]

    private static func form(_ rows: RowsRequest, _ model: EntityModel, _ request: BrowserRequest) -> View {
        let query = request.query
        var view: View = ["entityName": model.name, "filter": rows.filter, "search": rows.search, "hasMistake": false, "hasRows": false]
        view["completionAddress"] = QueryItems([("entity", model.name)]).address("/complete.json")
        view["filterExample"] = model.attributes.first.map { "\($0.name.asPath) == …" } ?? ""
        view["isSearchable"] = !model.root.searchIndexes.isEmpty
        view["plainAddress"] = Addresses.rows(model.name)
        view["createAddress"] = request.site.store.isWritable ? QueryItems([("entity", model.name)]).address("/create") : nil
        view["kept"] = hidden(query, ["of", "via", "from", "index", "facet"])
        view["facetKept"] = hidden(query, ["entity", "filter", "search", "index", "of", "via", "from", "column", "order", "size"])
        let properties = model.properties.filter { if case .relationship(let one) = $0 { !one.isToMany } else { true } }.map(\.name)
        let chosen = rows.columns.isEmpty ? Set(properties.map(\.asPath)) : Set(rows.columns)
        view["columnChoices"] = properties.map { ["name": $0, "isChosen": chosen.contains($0.asPath) || chosen.contains($0)] as View }
        view["orderChoices"] = properties.flatMap { name -> [View] in
            [("", " ↑"), ("-", " ↓")].map { mark, arrow in
                ["value": mark + name.asPath, "title": name + arrow, "isChosen": query["order"] == mark + name.asPath]
            }
        }
        view["sizes"] = sizes.map { ["value": "\($0)", "isChosen": $0 == rows.size] as View }
        view["facetChoices"] = properties.map { ["name": $0, "isChosen": query["facet"] == $0] as View }
        view["hasFacet"] = false
        view["hasSubentities"] = model.hasSubentities
        view["subentities"] = model.subentities.map { ["name": $0, "address": Addresses.rows($0)] as View }
        view["countText"] = ""
        return view
    }

    private static func hidden(_ query: QueryItems, _ names: Set<String>) -> [View] {
        query.items.filter { names.contains($0.name) && !$0.value.isEmpty }.map { ["name": $0.name, "value": $0.value] }
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
        view["rows"] = page.rows.map { row($0, page.columns, label) }
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

    private static func row(_ row: BrowserData.RowsPage.Row, _ columns: [RowColumn], _ label: Int?) -> View {
        let name = label.map { row.values[$0] }.flatMap { $0.isNull ? nil : $0.text }
        let cells = zip(columns, row.values).map { column, value in
            CellView.view(value, whole: column.type == nil ? nil : Addresses.value(column.title, of: row.object))
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
        query.with([("after", nil), ("before", nil), ("page", nil)] + (item.map { [($0.0, $0.1)] } ?? [])).address("/rows")
    }
}
