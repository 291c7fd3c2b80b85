/// Rows in aligned columns. The first rows determine the widths, so that a long output begins soon.
final class TableOutput: RowOutput {
    private struct Column {
        let title: DisplayText
        var width: Int
        var isRightAligned = true
        var isEmpty = true
    }

    private var columns: [Column]
    /// The width of the table; 0 for no limit.
    private let limit: Int
    private var first: [[Cell]] = []
    private var isBegun = false
    private let hasColour = StandardStreams.permitsColour(StandardStreams.outputIsTerminal)

    /// The number of rows that determine the widths.
    private static let measuredRows = 1000
    private static let gap = 2

    init(_ titles: [String], width: Int) {
        columns = titles.map { title in
            let title = DisplayText(title)
            return Column(title: title, width: title.width)
        }
        limit = width
    }

    func write(_ row: [Cell]) throws {
        if isBegun { return try writeLine(row) }
        first.append(row)
        if first.count == Self.measuredRows { try begin() }
    }

    func finish() throws {
        if !isBegun && !first.isEmpty { try begin() }
        try StandardOutput.shared.flush()
    }

    private func begin() throws {
        isBegun = true
        for row in first { for (index, cell) in row.enumerated() { measure(cell, index) } }
        fit()
        let titles = columns.map { $0.title.filled(to: $0.width, isRightAligned: $0.isRightAligned && !$0.isEmpty) }
        try writeLine(titles, style: "\u{1b}[1m")
        try writeLine(columns.map { String(repeating: "─", count: $0.width) }, style: "\u{1b}[2m")
        for row in first { try writeLine(row) }
        first = []
    }

    private func measure(_ cell: Cell, _ index: Int) {
        columns[index].width = max(columns[index].width, DisplayText(cell.text).width)
        guard !cell.isNull else { return }
        columns[index].isEmpty = false
        if !cell.isNumber { columns[index].isRightAligned = false }
    }

    /// Narrows the widest columns until the table fits. Each keeps a few columns, also if the table is then too wide.
    private func fit() {
        guard limit > 0 else { return }
        let available = limit - Self.gap * (columns.count - 1)
        var excess = columns.reduce(0) { $0 + $1.width } - available
        while excess > 0 {
            guard let widest = columns.map(\.width).max(), widest > 6 else { return }
            let next = columns.map(\.width).filter { $0 < widest }.max() ?? 6
            let wide = columns.indices.filter { columns[$0].width == widest }
            let step = max(1, min(widest - max(next, 6), (excess + wide.count - 1) / wide.count))
            for index in wide where excess > 0 {
                let less = min(step, excess)
                columns[index].width -= less
                excess -= less
            }
        }
    }

    private func writeLine(_ row: [Cell]) throws {
        try writeLine(
            zip(columns, row).map { column, cell in
                let text = DisplayText(cell.text)
                let isFilled = limit > 0 || text.width <= column.width
                return isFilled ? text.filled(to: column.width, isRightAligned: column.isRightAligned && !column.isEmpty) : text.text
            }, style: nil)
    }

    private func writeLine(_ cells: [String], style: String?) throws {
        var line = cells.joined(separator: String(repeating: " ", count: Self.gap))
        while line.last == " " { line.removeLast() }
        if let style, hasColour { line = style + line + "\u{1b}[0m" }
        try StandardOutput.shared.write(line + "\n")
    }
}
