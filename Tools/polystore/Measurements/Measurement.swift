import BrowserData
import Foundation
import PolyStoreCore

/// Measures the answers of the browser on one store.
struct Measurement {
    let store: BrowserStore
    private let clock = ContinuousClock()

    /// Measures a pane several times, and prints the median and the greatest of the times.
    private func measure(_ title: String, _ body: () async throws -> String) async throws {
        var (times, result) = ([Double](), "")
        let start = clock.now
        while times.count < 9, times.count < 3 || clock.now - start < .seconds(5) {
            let begin = clock.now
            result = try await body()
            times.append(PaneCost.milliseconds(clock.now - begin))
        }
        times.sort()
        func text(_ time: Double) -> String { String(format: "%9.1f", time) }
        print(
            "\(title.padding(toLength: 52, withPad: " ", startingAt: 0))\(text(times[times.count / 2])) ms\(text(times[times.count - 1])) ms  \(result)"
        )
    }

    func run() async throws {
        try await measure("entities with counts") { "\(try await store.entities().map(\.count))" }
        try await pages(nil, "")
        try await pages("name", "")
        try await pages("population", "")
        try await pages("kind", "")
        try await pages("isCapital", "")
        try await pages("region", "")
        for filter in ["name == 'City 77777'", "population > 999000", "kind == 'kind 3'", "population > 500000", "isCapital == TRUE"] {
            try await pages(nil, filter)
        }
        try await pages("population", "population > 500000")
        try await object()
        for property in ["kind", "isCapital", "founded", "population", "region"] { try await facet(property) }
        print("memory after facets by index: \(Self.memory)")
        try await scan()
        print("memory at the end: \(Self.memory)")
    }

    private func pages(_ order: String?, _ filter: String) async throws {
        var request = RowsRequest("City")
        (request.order, request.filter) = (order.map { RowsRequest.Order($0) }, filter)
        let name = (order.map { "by \($0)" } ?? "by id") + (filter.isEmpty ? "" : ", \(filter)")
        let first = try await store.rows(request)
        try await measure("first page \(name)") { Self.text(try await store.rows(request)) }
        request.position = .last
        let last = try await store.rows(request)
        try await measure("last page \(name)") { Self.text(try await store.rows(request)) }
        if let next = first.next {
            request.position = .after(next)
            try await measure("second page \(name)") { Self.text(try await store.rows(request)) }
        }
        if let previous = last.previous {
            request.position = .before(previous)
            try await measure("last page but one \(name)") { Self.text(try await store.rows(request)) }
        }
        if !filter.isEmpty { try await measure("count \(name)") { "\(try await store.count(request))" } }
    }

    private static func text(_ page: RowsPage) -> String { "\(page.rows.count) rows from \(page.rows.first?.object.rowID ?? 0)" }

    private func object() async throws {
        let region = ObjectReference(entity: "Region", rowID: 1)
        try await measure("object with 10,000 related") {
            let page = try await store.object(region)
            return "\(page?.links.map(\.count) ?? [])"
        }
        var request = RowsRequest("City")
        request.links = [RowsRequest.Link(object: region, relationship: "cities")]
        try await measure("first page of the 10,000 related") { Self.text(try await store.rows(request)) }
        request.position = .last
        try await measure("last page of the 10,000 related") { Self.text(try await store.rows(request)) }
    }

    private func facet(_ property: String) async throws {
        try await measure("facet \(property) by index") {
            for try await facet in store.facets(of: property, RowsRequest("City")) where facet.isComplete {
                return "\(facet.kind), \(facet.buckets.count) of \(facet.counted)"
            }
            return "none"
        }
    }

    /// Measures facets that read all rows: the time to the first answer, to the end, and to a stop.
    private func scan() async throws {
        for (property, filter) in [("area", ""), ("name", ""), ("kind", "population > 500000")] {
            var request = RowsRequest("City")
            request.filter = filter
            let begin = clock.now
            var first: Double?
            for try await facet in store.facets(of: property, request, timeLimit: .seconds(120)) {
                first = first ?? PaneCost.milliseconds(clock.now - begin)
                guard facet.isComplete else { continue }
                let all = PaneCost.milliseconds(clock.now - begin)
                print(
                    "facet \(property) by reading, \(filter): first answer \(Int(first ?? 0)) ms, all \(Int(all)) ms, \(facet.counted) rows"
                )
            }
        }
        let stopped = clock.now
        for try await _ in store.facets(of: "note", RowsRequest("City")) { break }
        print("facet note stopped after its first answer: \(Int(PaneCost.milliseconds(clock.now - stopped))) ms")
    }

    /// The memory of the process, as the kernel reports it; empty where it does not. LMDB and LevelDB map files, whose pages the kernel takes back when it needs them.
    private static var memory: String {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let lines = status.split(separator: "\n").filter { $0.hasPrefix("VmHWM") || $0.hasPrefix("RssAnon") || $0.hasPrefix("RssFile") }
        return lines.map { $0.split(separator: "\t", omittingEmptySubsequences: true).joined(separator: " ") }.joined(separator: ", ")
    }
}
