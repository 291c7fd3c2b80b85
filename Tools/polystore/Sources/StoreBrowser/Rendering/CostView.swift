import BrowserData

/// The values of the template that shows what a pane cost.
enum CostView {
    /// Adds what a pane cost to the values of its template.
    /// - Parameter advice: The indexes that would let the pane read fewer rows, as source.
    static func add(_ cost: PaneCost, advice: [String] = [], to view: inout View, title: String = "Cost", id: String = "cost") {
        var summary = [milliseconds(cost.milliseconds)]
        if let rows = cost.rowsExamined { summary.append(rows == 1 ? "1 row examined" : "\(rows) rows examined") }
        summary += cost.accesses.prefix(1)
        if !advice.isEmpty { summary.append("an index would help") }
        var items: [View] = [["name": "Time", "value": milliseconds(cost.milliseconds)]]
        if let rows = cost.rowsExamined { items.append(["name": "Rows examined", "value": "\(rows)"]) }
        if !cost.accesses.isEmpty { items.append(["name": "Access", "value": cost.accesses.joined(separator: ", ")]) }
        if cost.isScan { items.append(["name": "Scan", "value": "All rows of an entity were read."]) }
        view["costTitle"] = title
        view["costID"] = id
        view["costIsOpen"] = !advice.isEmpty
        view["costSummary"] = summary.joined(separator: " · ")
        view["costItems"] = items
        view["costAdvice"] = advice.map { ["text": $0] as View }
        if !cost.plans.isEmpty { view["costPlan"] = cost.plans.joined(separator: "\n\n") }
    }

    static func milliseconds(_ value: Double) -> String {
        value < 10 ? "\((value * 10).rounded() / 10) ms" : "\(Int(value.rounded())) ms"
    }
}
