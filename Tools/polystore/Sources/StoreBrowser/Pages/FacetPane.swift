import BrowserData
import Hummingbird

import struct PolyStoreBackend.StoreError

/// The values of a property with their counts, beside the rows.
enum FacetPane {
    /// The greatest time for which the page waits for a facet that an index answers.
    private static let limit = Duration.seconds(1)

    /// Adds the facet that an address requests. A facet that an index answers is counted before the page is sent; another, and one that takes long, is counted while the page is open.
    static func add(to view: inout View, _ rows: RowsRequest, _ request: BrowserRequest) async throws {
        guard let property = request.query["facet"] else { return }
        var pane: View = ["facetName": property, "isStreamed": false, "hasValues": false, "emptyText": "", "isBounded": false]
        do {
            if let facet = try await direct(request, property, rows) {
                pane.merge(values(facet, rows, request)) { $1 }
                CostView.add(facet.cost, to: &pane, title: "Cost of the facet", id: "facet-cost")
            } else {
                pane["isStreamed"] = true
                pane["eventsAddress"] = request.query.address("/facet.events")
                pane["plainFacetAddress"] = request.query.with([("count", "all")]).address("/rows")
                pane["progress"] = "Counting…"
            }
        } catch let error as StoreError where error.code == .misuse {
            // The property has no values to count, which does not concern the rows.
            pane["emptyText"] = error.message
        }
        view["hasFacet"] = true
        view["facet"] = request.site.templates.render("facet", pane)
    }

    /// Counts of the values so far, and then of all.
    static let events = Route.stream { request in
        let rows = try RowsRequest(request)
        let property = try request.required("facet")
        return StreamedResponse.events(request) { send in
            do {
                for try await facet in request.site.store.facets(of: property, rows, timeLimit: nil) {
                    let text = request.site.templates.render("facetvalues", values(facet, rows, request))
                    try await send(ServerEvent(name: "values", data: text))
                    try await send(ServerEvent(name: facet.isComplete ? "ended" : "progress", data: progress(facet)))
                }
            } catch let error as FilterMistake {
                try await send(ServerEvent(name: "ended", data: error.message))
            } catch let error as StoreError {
                // The page shows it; without it the stream would break off.
                try await send(ServerEvent(name: "ended", data: error.message))
            }
        }
    }

    /// Returns the facet that is counted before the page is sent; nil if the objects would have to be read and the address does not request that.
    private static func direct(_ request: BrowserRequest, _ property: String, _ rows: RowsRequest) async throws -> Facet? {
        guard request.query["count"] == "all" else {
            do {
                return try await request.site.store.indexedFacet(of: property, rows, timeLimit: min(limit, request.site.options.deadline))
            } catch let error as StoreError
                where error.code == .timedOut
            { return nil }
        }
        var last: Facet?
        for try await facet in request.site.store.facets(of: property, rows, timeLimit: request.site.options.deadline) { last = facet }
        return last
    }

    private static func progress(_ facet: Facet) -> String {
        if facet.isComplete { return "\(facet.counted) objects counted." }
        return facet.total.map { "\(facet.counted) of \($0) objects counted…" } ?? "\(facet.counted) objects counted…"
    }

    /// Returns the items of the address of the objects that a bucket counts.
    private static func selecting(_ bucket: Facet.Bucket, _ rows: RowsRequest, _ query: QueryItems) -> QueryItems {
        var query = query.without(RowsRequest.positionNames.union(["count", "total", "advise"]))
        if !bucket.condition.isEmpty {
            query["filter"] = rows.filter.isEmpty ? bucket.condition : "(\(rows.filter)) AND \(bucket.condition)"
        } else if let link = bucket.link, !rows.links.contains(link) {
            // No condition of the language names the related object.
            query = query.without(RowsRequest.linkNames).adding((rows.links + [link]).flatMap(\.items))
        }
        return query
    }

    private static func values(_ facet: Facet, _ rows: RowsRequest, _ request: BrowserRequest) -> View {
        let greatest = max(1, facet.buckets.map(\.count).max() ?? 1)
        let values = facet.buckets.map { bucket -> View in
            let query = selecting(bucket, rows, request.query)
            return [
                "title": bucket.title, "count": "\(bucket.count)", "number": "\(bucket.count)", "greatest": "\(greatest)",
                "address": query.address("/rows"),
            ]
        }
        let others = facet.valueCount - facet.buckets.count
        let isBounded = facet.kind == .values && (others > 0 || facet.hasTooManyValues)
        return [
            "hasValues": !values.isEmpty, "values": values, "emptyText": "No values.", "isBounded": isBounded,
            "boundText": facet.hasTooManyValues
                ? "There are too many different values to count all of them." : "\(others) further value\(others == 1 ? "" : "s").",
        ]
    }
}
