import BrowserData
import BrowserDrawing
import Hummingbird
import PolyStoreFormats

/// The list of the entities with their counts, and the diagram of the schema.
enum EntitiesPage {
    /// The number of entities from which on the page has a field to find one.
    private static let longList = 20

    static let route = Route.page { request in
        let clock = ContinuousClock()
        let start = clock.now
        let entities = try await request.site.store.entities()
        let cost = PaneCost(milliseconds: PaneCost.milliseconds(clock.now - start))
        var page = Page(template: "entities", title: "Entities", formats: ["json"])
        page.view = view(entities, request)
        CostView.add(cost, to: &page.view, title: "Cost of the counts")
        return page.response(request)
    }

    static let json = Route.data { request in
        let entities = try await request.site.store.entities()
        return DataResponse.json(
            .array(
                entities.map { entity in
                    JSONValue(
                        JSONObject([
                            ("name", JSONValue(entity.name)), ("count", JSONValue(entity.count)),
                            ("parent", entity.model.parent.map { JSONValue($0) } ?? .null),
                        ]))
                }))
    }

    private static func view(_ entities: [EntitySummary], _ request: BrowserRequest) -> View {
        let focus = request.query["focus"]
        let drawing = SchemaDrawing(SchemaGraph(entities, in: request.site.store.schema), around: focus)
        var view: View = ["isEmpty": entities.isEmpty, "isLong": entities.count > longList, "diagram": drawing.svg]
        view["isPart"] = drawing.shownEntities < drawing.entities
        view["partText"] = "The diagram shows \(drawing.shownEntities) of \(drawing.entities) entities."
        view["focusChoices"] = entities.map { ["name": $0.name, "isChosen": $0.name == focus] as View }
        view["entities"] = entities.map { entity -> View in
            let links = entity.model.relationships.map { ["name": $0.name, "address": Addresses.rows($0.destination)] as View }
            return [
                "name": entity.name, "address": Addresses.rows(entity.name), "count": "\(entity.count)",
                "level": "level-\(min(entity.level, 2))",
                "attributes": "\(entity.model.attributes.count)", "relationships": links,
            ]
        }
        return view
    }
}
