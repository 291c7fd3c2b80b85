import Foundation
import PolyStoreBackend

/// A node of a plan that the server has returned as JSON.
struct PlanNode: Decodable {
    let type: String
    let alias: String?
    let indexName: String?
    let condition: String?
    let direction: String?
    let rows: Double?
    let removed: Double?
    let rechecked: Double?
    let loops: Double?
    let children: [PlanNode]?

    enum CodingKeys: String, CodingKey {
        case type = "Node Type"
        case alias = "Alias"
        case indexName = "Index Name"
        case condition = "Index Cond"
        case direction = "Scan Direction"
        case rows = "Actual Rows"
        case removed = "Rows Removed by Filter"
        case rechecked = "Rows Removed by Index Recheck"
        case loops = "Actual Loops"
        case children = "Plans"
    }

    private struct Root: Decodable {
        let plan: PlanNode
        enum CodingKeys: String, CodingKey { case plan = "Plan" }
    }

    /// Decodes the result of `EXPLAIN (FORMAT JSON)`; nil for another text.
    static func decode(_ text: String) -> PlanNode? {
        (try? JSONDecoder().decode([Root].self, from: Data(text.utf8)))?.first?.plan
    }

    /// The node and all nodes below it.
    var all: [PlanNode] { [self] + (children ?? []).flatMap(\.all) }

    /// The number of rows that the node has examined.
    var examined: Int {
        let each = (rows ?? 0) + (removed ?? 0) + (rechecked ?? 0)
        return Int((each * (loops ?? 0)).rounded(.up))
    }
}
