import BrowserData
import Hummingbird

/// One object with its values and its links in both directions.
enum ObjectView {
    static let route = Route.page { request in
        let reference = try request.object()
        let wantsCost = request.query["cost"] != "0"
        let store = request.site.store
        // A commit after this point is reported to the page, also if the object is read before it.
        let point = try await store.historyPoint()
        guard let object = try await store.object(reference, wantsCost: wantsCost, timeLimit: request.site.options.deadline) else {
            throw BrowserError(404, "\(reference.entity) \(reference.rowID) does not exist. It can have been deleted.")
        }
        var page = Page(template: "object", title: object.object.named(object.name), entity: object.object.entity, formats: ["json"])
        page.liveAddress = HistoryView.liveAddress(since: point)
        page.view = view(object, request)
        CostView.add(object.cost, to: &page.view, title: "Cost of the object")
        return page.response(request)
    }

    private static func view(_ page: ObjectPage, _ request: BrowserRequest) -> View {
        let object = page.object
        var view: View = ["entityName": object.entity, "rowID": "\(object.rowID)", "reference": Addresses.text(object)]
        view["rowsAddress"] = Addresses.rows(object.entity)
        view["isWritable"] = request.site.store.isWritable
        view["editAddress"] = Addresses.object(object, path: "/edit")
        view["deleteAddress"] = Addresses.object(object, path: "/delete")
        view["historyAddress"] = Addresses.history(object)
        view["hasNoValues"] = page.properties.isEmpty
        view["values"] = page.properties.map { property -> View in
            [
                "name": property.name, "type": property.type.rawValue,
                "value": [CellView.view(property.value, whole: Addresses.value(property.name, of: object))],
            ]
        }
        view["hasNoLinks"] = page.links.isEmpty
        view["links"] = page.links.map { link($0, of: object) }
        return view
    }

    private static func link(_ link: ObjectPage.Link, of object: ObjectReference) -> View {
        let direction = link.incomingFrom == nil ? "to" : "from"
        let rule = link.deleteRule.map { "; delete rule \($0)" } ?? ""
        return [
            "name": link.title, "count": "\(link.count)",
            "description": "\(link.isToMany ? link.isOrdered ? "ordered " : "many " : "one ")\(direction) \(link.entity)\(rule)",
            "related": link.first.map { ["address": Addresses.object($0.reference), "displayName": $0.reference.named($0.name)] as View },
            "hasMore": link.count > link.first.count, "allAddress": Addresses.rows(link, of: object),
        ]
    }
}
