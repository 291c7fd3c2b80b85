import PolyStoreBackend

extension ConformanceReport {
    /// The report for a terminal: tables with aligned columns.
    public var text: String { sections.map { $0.text }.joined(separator: "\n") }

    /// The report as Markdown.
    public var markdown: String { sections.map { $0.markdown }.joined(separator: "\n") }

    private var sections: [Section] {
        let names = targets.map(\.name)
        var sections = [
            Section(title: "Capabilities", head: ["capability"] + names, rows: capabilityRows),
            Section(title: "Cases: passed / apply (skipped)", head: ["area"] + names, rows: areaRows),
        ]
        if !skipRows.isEmpty { sections.append(Section(title: "Skipped", head: ["backend", "reason", "cases"], rows: skipRows)) }
        let failed = failures.map { [$0.target, $0.caseID, Self.message($0.outcome)] }
        if !failed.isEmpty { sections.append(Section(title: "Failed", head: ["backend", "case", "message"], rows: failed)) }
        return sections
    }

    private var capabilityRows: [[String]] {
        features.map { feature in [feature.description] + targets.map { $0.capabilities.contains(feature) ? "yes" : "–" } }
            + Durability.allCases.map { durability in
                ["durability .\(durability.rawValue)"]
                    + targets.map { target in durabilities[target.name].map { $0.contains(durability) ? "yes" : "–" } ?? "?" }
            }
    }

    private var areaRows: [[String]] {
        var areas: [String] = []
        for entry in entries where !areas.contains(entry.area) { areas.append(entry.area) }
        let rows = areas.map { area in
            [area] + targets.map { target in Self.counted(entries.filter { $0.target == target.name && $0.area == area }) }
        }
        return rows + [["all"] + targets.map { target in Self.counted(entries.filter { $0.target == target.name }) }]
    }

    private static func counted(_ entries: [Entry]) -> String {
        let skipped = entries.count { if case .skipped = $0.outcome { true } else { false } }
        let passed = entries.count { $0.outcome == .passed }
        return "\(passed) / \(entries.count - skipped)" + (skipped > 0 ? " (\(skipped))" : "")
    }

    /// One line per backend and reason.
    private var skipRows: [[String]] {
        targets.flatMap { target in
            var cases: [String: [String]] = [:]
            for entry in entries where entry.target == target.name {
                if case .skipped(let reason) = entry.outcome { cases[reason, default: []].append(entry.caseID) }
            }
            return cases.sorted { $0.key < $1.key }.map { [target.name, $0.key, $0.value.joined(separator: ", ")] }
        }
    }

    private static func message(_ outcome: Outcome) -> String {
        if case .failed(let message) = outcome { message } else { "" }
    }
}

/// A table with a title.
private struct Section {
    let title: String
    let head: [String]
    let rows: [[String]]

    var text: String {
        // The last column is not padded, because it contains messages.
        let widths = head.indices.dropLast().map { column in ([head] + rows).map { $0[column].count }.max() ?? 0 }
        let lines = ([head] + rows).map { row in
            "  "
                + row.enumerated().map { column, cell in
                    column < widths.count ? cell + String(repeating: " ", count: widths[column] - cell.count) : cell
                }.joined(separator: "  ")
        }
        return ([title] + lines).map { $0 + "\n" }.joined()
    }

    var markdown: String {
        let lines = [head, head.map { _ in "---" }] + rows.map { $0.map(Self.escaped) }
        return "### \(title)\n\n" + lines.map { "| " + $0.joined(separator: " | ") + " |\n" }.joined()
    }

    private static func escaped(_ cell: String) -> String {
        cell.split(separator: "\n").joined(separator: "<br>").replacing("|", with: "\\|")
    }
}
