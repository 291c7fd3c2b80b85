import BrowserData
import BrowserDrawing
import Foundation
import Hummingbird
import PolyStoreBackend

/// Groups of the objects of an entity, as a table and as a chart.
enum GroupsView {
    private static let functions = ["count", "sum", "average", "min", "max", "median"]
    private static let dateParts = ["year", "month", "day"]
    private static let charts = ["bars", "line", "none"]

    static let route = Route.page { request in
        let model = try request.site.store.model(request.required("entity"))
        var groups = try groupsRequest(model, request)
        groups.wantsCost = request.query["cost"] != "0"
        var page = Page(template: "groups", title: "Groups of \(model.name)", entity: model.name, formats: ["json", "csv"])
        page.view = form(groups, model, request)
        do {
            let table = try await request.site.store.groups(groups, timeLimit: request.site.options.deadline)
            add(table, groups, model, request, to: &page.view)
            CostView.add(table.cost, to: &page.view, title: "Cost of the groups")
        } catch let mistake as FilterMistake {
            page.status = .badRequest
            MistakeView.add(mistake, in: groups.filter, to: &page.view)
            page.view["emptyText"] = ""
        }
        return page.response(request)
    }

    // MARK: Request

    /// Reads the groups that an address names.
    /// - Throws: `BrowserError` for a function that does not exist, or that needs an attribute.
    static func groupsRequest(_ model: EntityModel, _ request: BrowserRequest) throws -> GroupsRequest {
        var groups = GroupsRequest(model.name)
        let query = request.query
        let keys = query.all("by").filter { !$0.isEmpty }
        groups.groups = keys.isEmpty && !query.contains("by") ? preferred(model).map { [$0] } ?? [] : keys
        groups.filter = query["filter"] ?? ""
        (groups.search, groups.searchIndex) = (query["search"] ?? "", query["index"] ?? "")
        groups.having = query["having"] ?? ""
        groups.size = min(max(try request.number("size") ?? 200, 1), GroupsRequest.greatestSize)
        let function = query["function"] ?? "count"
        guard functions.contains(function) else {
            throw BrowserError(400, "There is no function \"\(function)\"; the functions are \(functions.joined(separator: ", ")).")
        }
        if let attribute = query["of"] {
            groups.functions = ["\(function)(\(attribute)) as value"]
        } else if function == "count" {
            groups.functions = ["count(*) as count"]
        } else {
            let number = model.attributes.first { $0.type.isNumber }
            guard let number else { throw BrowserError(400, "\"\(function)\" needs a number, and \(model.name) has none. Choose count.") }
            groups.functions = ["\(function)(\(number.name.asPath)) as value"]
        }
        return groups
    }

    /// Returns the property to group by at first: one that is likely to have few values.
    private static func preferred(_ model: EntityModel) -> String? {
        let toOne = model.relationships.first { !$0.isToMany }?.name
        let bool = model.attributes.first { $0.type == .bool }?.name
        let other = model.attributes.first { !$0.isUnique && ![.data, .json, .date].contains($0.type) }?.name
        return (toOne ?? bool ?? other)?.asPath ?? choices(model).first?.term
    }

    /// The properties to group by.
    private static func choices(_ model: EntityModel) -> [(term: String, title: String)] {
        let own = model.properties.flatMap { property -> [(String, String)] in
            switch property {
            case .relationship(let relationship):
                return relationship.isToMany ? [] : [(relationship.name.asPath, relationship.name)]
            case .attribute(let attribute) where attribute.type == .date:
                return dateParts.map { ("\($0)(\(attribute.name.asPath))", "\($0) of \(attribute.name)") }
            case .attribute(let attribute):
                return [.data, .json].contains(attribute.type) ? [] : [(attribute.name.asPath, attribute.name)]
            }
        }
        return own.map { (term: $0.0, title: $0.1) }
    }

    private static func form(_ groups: GroupsRequest, _ model: EntityModel, _ request: BrowserRequest) -> View {
        let query = request.query
        var view: View = ["entityName": model.name, "filter": groups.filter, "hasMistake": false, "hasGroups": false]
        view["emptyText"] = "No groups."
        (view["having"], view["search"], view["searchIndex"]) = (groups.having, groups.search, groups.searchIndex)
        view["hasSearch"] = !groups.search.isEmpty
        view["completionAddress"] = QueryItems([("entity", model.name)]).address("/complete.json")
        let own = choices(model)
        // An address can name a path or a date, which the form keeps.
        let others = groups.groups.filter { term in !own.contains { $0.term == term } }
        view["byChoices"] = (own + others.map { (term: $0, title: $0) }).map {
            ["name": $0.term, "title": $0.title, "isChosen": groups.groups.contains($0.term)] as View
        }
        view["functionChoices"] = functions.map { ["name": $0, "isChosen": $0 == query["function"]] as View }
        view["ofChoices"] = model.attributes.filter { $0.type.isNumber || $0.type == .date }.map { attribute in
            let term = attribute.name.asPath
            return ["name": term, "title": attribute.name, "isChosen": term == query["of"]] as View
        }
        view["chartChoices"] = charts.map { ["name": $0, "isChosen": $0 == query["chart"]] as View }
        return view
    }

    // MARK: Answer

    private static func add(
        _ table: GroupTable, _ groups: GroupsRequest, _ model: EntityModel, _ request: BrowserRequest, to view: inout View
    ) {
        view["hasGroups"] = !table.rows.isEmpty
        view["isBounded"] = table.hasMore
        view["boundText"] = "There are more groups than these \(table.rows.count)."
        view["columns"] = table.titles.enumerated().map { ["name": $1, "style": $0 < table.keyCount ? "" : "number"] as View }
        let links = table.rows.map { address(of: $0, table, groups, model) }
        view["groups"] = zip(table.rows, links).map { row, link -> View in
            [
                "isLink": link != nil, "address": link ?? "", "title": row.prefix(table.keyCount).map(\.text).joined(separator: ", "),
                "cells": row.dropFirst(table.keyCount).map { CellView.view($0, whole: nil) },
            ]
        }
        view["chart"] = chart(table, links, request.query["chart"] ?? "bars", title: title(groups))
    }

    /// Returns the address of the objects of a group; nil if no condition selects just them.
    private static func address(of row: [BrowserValue], _ table: GroupTable, _ groups: GroupsRequest, _ model: EntityModel) -> String? {
        var items = QueryItems([("entity", model.name)])
        (items["search"], items["index"]) = (groups.search, groups.searchIndex)
        // The objects that lead to a related object, for groups by one relationship.
        if groups.groups.count == 1, let object = row.first?.reference,
            let relationship = model.relationships.first(where: { $0.name.asPath == groups.groups[0] })
        {
            (items["of"], items["via"]) = (Addresses.text(object), relationship.name)
            items["from"] = model.root.owner(of: relationship.name)
            items["filter"] = groups.filter
            return items.address("/rows")
        }
        let conditions = zip(groups.groups, row).compactMap { GroupCondition.text($0, $1) }
        guard conditions.count == table.keyCount else { return nil }
        let filter = (groups.filter.isEmpty ? [] : ["(\(groups.filter))"]) + conditions
        items["filter"] = filter.isEmpty ? nil : filter.joined(separator: " AND ")
        return items.address("/rows")
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
