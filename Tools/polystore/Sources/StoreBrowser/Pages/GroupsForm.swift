import BrowserData
import PolyStoreBackend

/// The form of groups. It keeps what an address names and it does not list.
enum GroupsForm {
    private static let dateParts = ["year", "month", "day"]
    private static let charts = ["bars", "line", "none"]

    /// A choice of a list.
    typealias Choice = (term: String, title: String)

    /// The properties to group by.
    static func choices(_ model: EntityModel) -> [Choice] {
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

    /// Returns the values of the form.
    static func view(_ groups: GroupsRequest, _ model: EntityModel, _ request: BrowserRequest) -> View {
        let query = request.query
        var view: View = ["entityName": model.name, "filter": groups.filter, "hasMistake": false, "hasGroups": false]
        view["emptyText"] = "No groups."
        (view["having"], view["search"], view["searchIndex"]) = (groups.having, groups.search, groups.searchIndex)
        view["hasSearch"] = !groups.search.isEmpty
        view["completionAddress"] = QueryItems([("entity", model.name)]).address("/complete.json")
        view["kept"] = RowsForm.hidden(query, ["size", "cost"])
        let own = choices(model)
        view["isUngrouped"] = groups.groups.isEmpty
        view["byChoices"] = list(own, chosen: groups.groups.first)
        view["furtherKeys"] = groups.groups.enumerated().dropFirst().map { index, key in
            ["id": "by-\(index + 1)", "choices": list(own, chosen: key)] as View
        }
        view["functionChoices"] = GroupsView.functions.map { ["name": $0, "isChosen": $0 == query["function"]] as View }
        let measured = model.attributes.filter { $0.type.isNumber || $0.type == .date }.map { (term: $0.name.asPath, title: $0.name) }
        view["ofChoices"] = list(measured, chosen: query["of"])
        view["chartChoices"] = charts.map { ["name": $0, "isChosen": $0 == query["chart"]] as View }
        return view
    }

    /// Returns the options of a list, with the chosen term if it is a path or a calculation that the list does not have.
    private static func list(_ choices: [Choice], chosen: String?) -> [View] {
        let isListed = chosen.map { term in choices.contains { $0.term == term } } ?? true
        let all = choices + (isListed ? [] : [(term: chosen ?? "", title: chosen ?? "")])
        return all.map { ["name": $0.term, "title": $0.title, "isChosen": $0.term == chosen] }
    }
}
