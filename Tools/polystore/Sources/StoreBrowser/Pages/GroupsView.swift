import BrowserData
import BrowserDrawing
import Foundation
import Hummingbird
import PolyStoreBackend

/// Groups of the objects of an entity, as a table and as a chart.
enum GroupsView {
    static let functions = ["count", "sum", "average", "min", "max", "median"]

    static let route = Route.page { request in
        let model = try request.site.store.model(request.required("entity"))
        var groups = try keys(model, request)
        groups.wantsCost = request.query["cost"] != "0"
        var page = Page(template: "groups", title: "Groups of \(model.name)", entity: model.name, formats: ["json", "csv"])
        page.view = GroupsForm.view(groups, model, request)
        do {
            groups.functions = try functions(model, request.query)
            let table = try await request.site.store.groups(groups, timeLimit: request.site.options.deadline)
            add(table, groups, model, request, to: &page.view)
            CostView.add(table.cost, to: &page.view, title: "Cost of the groups")
        } catch let error as BrowserError where error.status == 400 {
            page.status = .badRequest
            MistakeView.add(error.message, to: &page.view)
        } catch let mistake as FilterMistake {
            page.status = .badRequest
            MistakeView.add(mistake, in: groups.filter, field: "Filter", to: &page.view)
        } catch let error as StoreError where error.code == .invalidPredicate {
            // The mistake is in the condition of groups, in what defines them, or in the search.
            page.status = .badRequest
            if let mistake = FilterMistake(error, pointingInto: groups.having) {
                MistakeView.add(mistake, in: groups.having, field: "Having", to: &page.view)
            } else {
                MistakeView.add(error.message, to: &page.view)
            }
        }
        if page.status != .ok { page.view["emptyText"] = "" }
        return page.response(request)
    }

    // MARK: Request

    /// Reads the groups that an address names.
    /// - Throws: `BrowserError` for a function that does not exist, or that needs an attribute.
    static func groupsRequest(_ model: EntityModel, _ request: BrowserRequest) throws -> GroupsRequest {
        var groups = try keys(model, request)
        groups.functions = try functions(model, request.query)
        return groups
    }

    /// Reads what defines the groups that an address names.
    private static func keys(_ model: EntityModel, _ request: BrowserRequest) throws -> GroupsRequest {
        var groups = GroupsRequest(model.name)
        let query = request.query
        let keys = query.all("by").filter { !$0.isEmpty }
        groups.groups = keys.isEmpty && !query.contains("by") ? preferred(model).map { [$0] } ?? [] : keys
        (groups.filter, groups.having) = (query.text("filter"), query.text("having"))
        (groups.search, groups.searchIndex) = (query.text("search"), query["index"] ?? "")
        groups.size = min(max(try request.number("size") ?? 200, 1), GroupsRequest.greatestSize)
        return groups
    }

    /// Reads the functions of the groups.
    private static func functions(_ model: EntityModel, _ query: QueryItems) throws -> [String] {
        let function = query["function"] ?? "count"
        guard functions.contains(function) else {
            throw BrowserError(400, "There is no function \"\(function)\"; the functions are \(functions.joined(separator: ", ")).")
        }
        if let attribute = query["of"] { return ["\(function)(\(attribute)) as value"] }
        if function == "count" { return ["count(*) as count"] }
        guard let number = model.attributes.first(where: { $0.type.isNumber }) else {
            throw BrowserError(400, "\"\(function)\" needs a number, and \(model.name) has none. Choose count.")
        }
        return ["\(function)(\(number.name.asPath)) as value"]
    }

    /// Returns the property to group by at first: one that is likely to have few values.
    private static func preferred(_ model: EntityModel) -> String? {
        let toOne = model.relationships.first { !$0.isToMany }?.name
        let bool = model.attributes.first { $0.type == .bool }?.name
        let other = model.attributes.first { !$0.isUnique && ![.data, .json, .date].contains($0.type) }?.name
        return (toOne ?? bool ?? other)?.asPath ?? GroupsForm.choices(model).first?.term
    }

    // MARK: Answer

    private static func add(
        _ table: GroupTable, _ groups: GroupsRequest, _ model: EntityModel, _ request: BrowserRequest, to view: inout View
    ) {
        view["hasGroups"] = !table.rows.isEmpty
        view["isBounded"] = table.hasMore
        view["boundText"] = "There are more groups than these \(table.rows.count)."
        view["columns"] = table.titles.enumerated().map { ["name": $1, "style": $0 < table.keyCount ? "" : "number"] as View }
        let links = table.selections.map { $0.map { address(of: $0, groups) } }
        view["groups"] = zip(table.rows, links).map { row, link -> View in
            [
                "isLink": link != nil, "address": link ?? "", "title": row.prefix(table.keyCount).map(\.text).joined(separator: ", "),
                "cells": row.dropFirst(table.keyCount).map { CellView.view($0, whole: nil) },
            ]
        }
        view["chart"] = chart(table, links, request.query["chart"] ?? "bars", title: title(groups))
    }

    /// Returns the address of the objects of a group.
    private static func address(of selection: GroupTable.Selection, _ groups: GroupsRequest) -> String {
        var items = QueryItems([("entity", groups.entity)])
        let filter = (groups.filter.isEmpty ? [] : ["(\(groups.filter))"]) + selection.conditions
        items["filter"] = filter.count == 1 && selection.conditions.isEmpty ? groups.filter : filter.joined(separator: " AND ")
        (items["search"], items["index"]) = (groups.search, groups.searchIndex)
        return items.adding(selection.links.flatMap(\.items)).address("/rows")
    }

    private static func title(_ groups: GroupsRequest) -> String {
        let function = groups.functions[0].replacing(/\ as [a-z]+$/, with: "")
        return groups.groups.isEmpty ? function : "\(function) by \(groups.groups.joined(separator: ", "))"
    }

    private static func chart(_ table: GroupTable, _ links: [String?], _ kind: String, title: String) -> String {
        guard let column = table.titles.indices.dropFirst(table.keyCount).first, kind != "none" else { return "" }
        if kind == "line", table.keyCount == 1 {
            let isDate = table.rows.contains { $0[0].kind == .date }
            let points = table.rows.enumerated().map { index, row -> LineChart.Point in
                let x = row[0].number.map { isDate ? $0 + Date.timeIntervalBetween1970AndReferenceDate : $0 } ?? Double(index)
                return LineChart.Point(x, row[column].number)
            }
            return LineChart(title: title, points, axis: isDate ? .dates : .numbers).svg
        }
        let bars = zip(table.rows, links).map { row, link in
            BarChart.Bar(row.prefix(table.keyCount).map(\.text).joined(separator: ", "), row[column].number, link: link)
        }
        return BarChart(title: title, bars).svg
    }
}
