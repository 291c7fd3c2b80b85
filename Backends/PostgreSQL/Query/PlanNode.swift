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

    /// A Boolean value that indicates whether the node reads the table of the request, which can be named twice in a statement. Related tables have other aliases.
    var readsTable: Bool { type != "Subquery Scan" && (alias == "t1" || alias?.hasPrefix("t1_") ?? false) }

    /// The number of rows that the node has examined.
    var examined: Int {
        let each = (rows ?? 0) + (removed ?? 0) + (rechecked ?? 0)
        return Int((each * (loops ?? 0)).rounded(.up))
    }

    /// Returns a text of a plan with a question mark for each constant. Names in quotation marks stay.
    static func withoutConstants(_ text: String) -> String {
        var result = String.UnicodeScalarView()
        let scalars = Array(text.unicodeScalars)
        var position = 0
        while position < scalars.count {
            let scalar = scalars[position]
            if scalar == "'" || scalar == "\"" {
                let end = self.end(of: scalar, in: scalars, from: position)
                result += scalar == "'" ? ["?"] : scalars[position..<end]
                position = end
            } else if isPartOfName(scalar) {
                let end = scalars[position...].firstIndex { !isPartOfName($0) } ?? scalars.count
                result += isDigit(scalar) ? ["?"] : scalars[position..<end]
                position = end
            } else {
                result.append(scalar)
                position += 1
            }
        }
        return String(result)
    }

    /// Returns the position after a quoted text, in which the quotation mark is doubled.
    private static func end(of mark: Unicode.Scalar, in scalars: [Unicode.Scalar], from start: Int) -> Int {
        var position = start + 1
        while position < scalars.count {
            if scalars[position] == mark {
                guard position + 1 < scalars.count, scalars[position + 1] == mark else { return position + 1 }
                position += 1
            }
            position += 1
        }
        return position
    }

    private static func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }
    private static func isPartOfName(_ scalar: Unicode.Scalar) -> Bool {
        isDigit(scalar) || scalar == "_" || scalar == "." || scalar == "$" || scalar.properties.isAlphabetic
    }
}
