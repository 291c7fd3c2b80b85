import BrowserData
import PolyStoreBackend

/// The forms of the rows. They keep what an address names and they do not list.
enum RowsForm {
    private static let sizes = [25, 50, 100, 250, 1000]

    /// Returns the values of the forms.
    static func view(_ rows: RowsRequest, _ model: EntityModel, _ request: BrowserRequest) -> View {
        let query = request.query
        var view: View = ["entityName": model.name, "filter": rows.filter, "search": rows.search, "hasMistake": false, "hasRows": false]
        view["completionAddress"] = QueryItems([("entity", model.name)]).address("/complete.json")
        view["filterExample"] = model.attributes.first.map { "\($0.name.asPath) == …" } ?? ""
        view["isSearchable"] = !model.root.searchIndexes.isEmpty || !rows.search.isEmpty
        view["plainAddress"] = Addresses.rows(model.name)
        view["createAddress"] = request.site.store.isWritable ? QueryItems([("entity", model.name)]).address("/create") : nil
        view["kept"] = hidden(query, RowsRequest.linkNames.union(["index", "facet", "cost"]))
        view["facetKept"] = hidden(
            query, RowsRequest.linkNames.union(["entity", "filter", "search", "index", "column", "order", "size", "cost"]))
        let properties = model.properties.filter { if case .relationship(let one) = $0 { !one.isToMany } else { true } }.map(\.name)
        addColumns(rows.columns, properties, to: &view)
        view["orderChoices"] = orders(rows.order, properties)
        view["sizes"] = Set(sizes + [rows.size]).sorted().map { ["value": "\($0)", "isChosen": $0 == rows.size] as View }
        view["facetChoices"] = properties.map { ["name": $0, "isChosen": query["facet"] == $0] as View }
        view["hasFacet"] = false
        view["hasSubentities"] = model.hasSubentities
        view["subentities"] = model.subentities.map { ["name": $0, "address": Addresses.rows($0)] as View }
        view["countText"] = ""
        return view
    }

    /// Adds the columns to choose: the properties, and before them those that the address names in another order, paths and calculations.
    private static func addColumns(_ columns: [String], _ properties: [String], to view: inout View) {
        let own = properties.map { (value: $0.asPath, title: $0) }
        let listed = own.map(\.value).filter(columns.contains)
        // All properties without a change of their order are what an address without columns names.
        let isPlain = columns.isEmpty || listed == columns
        let others = isPlain ? [] : columns.map { column in own.first { $0.value == column } ?? (column, column) }
        let rest = own.filter { choice in !others.contains { $0.value == choice.value } }
        view["listsAllColumns"] = isPlain
        view["columnChoices"] = (others + rest).map { choice in
            let isChosen = columns.isEmpty || columns.contains(choice.value)
            return ["value": choice.value, "name": choice.title, "isChosen": isChosen] as View
        }
    }

    private static func orders(_ order: RowsRequest.Order?, _ properties: [String]) -> [View] {
        func choices(_ term: String, _ title: String) -> [(value: String, title: String)] {
            [(term, "\(title) ↑"), ("-\(term)", "\(title) ↓")]
        }
        var all = properties.flatMap { choices($0.asPath, $0) }
        if let order, !all.contains(where: { $0.value == order.item }) {
            all += choices(order.term, order.term == "objectID" ? "row id" : order.term)
        }
        return all.map { ["value": $0.value, "title": $0.title, "isChosen": $0.value == order?.item] }
    }

    /// Returns the items that a form sends without showing them.
    static func hidden(_ query: QueryItems, _ names: Set<String>) -> [View] {
        query.items.filter { names.contains($0.name) && !$0.value.isEmpty }.map { ["name": $0.name, "value": $0.value] }
    }
}
