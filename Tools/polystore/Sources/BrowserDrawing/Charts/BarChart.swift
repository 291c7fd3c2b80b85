/// A chart with a bar for each group, as SVG. Up to twelve bars are vertical; more are horizontal, one below the other.
package struct BarChart: Sendable {
    /// A group and its value.
    package struct Bar: Sendable {
        package var label: String
        /// The value; nil if the group has none.
        package var value: Double?
        /// The path to which the bar leads, in the same server.
        package var link: String?

        package init(_ label: String, _ value: Double?, link: String? = nil) {
            self.label = label
            self.value = value
            self.link = link
        }

        /// The value as it is shown.
        var valueText: String { value.map { NumberText.text($0) } ?? "none" }
    }

    /// The chart as an element `svg`.
    package let svg: String
    /// A description of the chart, in one or two sentences.
    package let summary: String

    /// The largest number of vertical bars.
    package static let mostVerticalBars = 12
    /// The largest number of bars. The summary states how many others there are.
    package static let mostBars = 200

    /// Draws a chart.
    ///
    /// - Parameter title: What is shown, such as "count by continent".
    /// - Parameter id: The beginning of the ids of elements, which must be unique in a page.
    package init(title: String, _ bars: [Bar], id: String = "chart") {
        let shown = Array(bars.prefix(Self.mostBars))
        summary = Self.summary(bars, shown: shown.count)
        let drawing = shown.count > Self.mostVerticalBars ? BarDrawing.horizontal(shown) : BarDrawing.vertical(shown)
        let isList = shown.contains { MarkupText.localLink($0.link) != nil }
        svg = ChartFrame.element(id: id, title: title, summary: summary, height: drawing.height, isList: isList, drawing.parts).xml
    }

    private static func summary(_ bars: [Bar], shown: Int) -> String {
        var sentences = [bars.isEmpty ? "No groups." : bars.count == 1 ? "1 group." : "\(bars.count) groups."]
        if shown < bars.count { sentences = ["The first \(shown) of \(bars.count) groups."] }
        let measured = bars.filter { $0.value?.isNaN == false }
        func sentence(_ word: String, _ bar: Bar?) -> String? {
            bar.map { "\(word): \(TextMeasure.cut($0.label, to: 400, size: ChartFrame.fontSize)), \($0.valueText)." }
        }
        let order: (Bar, Bar) -> Bool = { ($0.value ?? 0) < ($1.value ?? 0) }
        if measured.count > 1 {
            sentences += [sentence("Largest", measured.max(by: order)), sentence("Smallest", measured.min(by: order))].compactMap(\.self)
        }
        if measured.count == 1 { sentences += [sentence("Value", measured.first)].compactMap(\.self) }
        let without = bars.count - measured.count
        if without > 0 { sentences.append("\(without) without a number.") }
        return sentences.joined(separator: " ")
    }
}

/// The elements of a bar chart.
struct BarDrawing {
    var parts: [SVGElement]
    var height: Double

    private static let rowHeight = 24.0

    static func vertical(_ bars: [BarChart.Bar]) -> BarDrawing {
        let scale = ChartScale(bars.compactMap(\.value), includesZero: true)
        let frame = ChartFrame(left: ChartFrame.widest(scale) + 16, top: 24, right: ChartFrame.width - 8, bottom: 276)
        guard !bars.isEmpty else { return empty(frame) }
        let slot = (frame.right - frame.left) / Double(bars.count)
        let height = frame.bottom - frame.top
        let groups = bars.enumerated().map { index, bar in
            let middle = frame.left + (Double(index) + 0.5) * slot
            let width = min(64, slot * 0.7)
            let (start, end) = (frame.bottom - scale.position(0) * height, frame.bottom - scale.position(bar.value ?? 0) * height)
            let (top, extent) = (min(start, end), abs(start - end))
            let shape = rectangle(bar, x: middle - width / 2, y: top, width: width, height: extent)
            let isBelow = (bar.value ?? 0) < 0
            let value = TextMeasure.cut(bar.valueText, to: slot - 2, size: ChartFrame.fontSize)
            let label = TextMeasure.cut(bar.label, to: slot - 6, size: ChartFrame.fontSize)
            return group(
                bar,
                shape + [
                    frame.text(value, middle, isBelow ? min(top + extent + 14, frame.bottom - 3) : top - 5, "middle", "value"),
                    frame.text(label, middle, frame.bottom + 18, "middle", "label"),
                ])
        }
        return BarDrawing(parts: [frame.rows(scale), list(groups)], height: 304)
    }

    static func horizontal(_ bars: [BarChart.Bar]) -> BarDrawing {
        let scale = ChartScale(bars.compactMap(\.value), includesZero: true)
        let labels = bars.map { TextMeasure.cut($0.label, to: 200, size: ChartFrame.fontSize) }
        let labelWidth = labels.reduce(0) { max($0, TextMeasure.width($1, size: ChartFrame.fontSize)) }
        let values = bars.reduce(0) { max($0, TextMeasure.width($1.valueText, size: ChartFrame.fontSize)) }
        let bottom = 8 + Double(bars.count) * rowHeight
        let frame = ChartFrame(left: labelWidth + 20, top: 8, right: ChartFrame.width - min(values, 120) - 12, bottom: bottom)
        let width = frame.right - frame.left
        let groups = zip(bars, labels).enumerated().map { index, row in
            let (bar, label) = row
            let y = frame.top + Double(index) * rowHeight
            let (start, end) = (frame.left + scale.position(0) * width, frame.left + scale.position(bar.value ?? 0) * width)
            let shape = rectangle(bar, x: min(start, end), y: y + 4, width: abs(start - end), height: rowHeight - 8)
            return group(
                bar,
                shape + [
                    frame.text(label, frame.left - 10, y + 16, "end", "label"),
                    frame.text(
                        TextMeasure.cut(bar.valueText, to: 120, size: ChartFrame.fontSize), max(start, end) + 6, y + 16, "start", "value"),
                ])
        }
        return BarDrawing(parts: [frame.columns(scale), list(groups)], height: bottom + 28)
    }

    private static func empty(_ frame: ChartFrame) -> BarDrawing {
        BarDrawing(parts: [frame.text("No groups", ChartFrame.width / 2, 60, "middle", "empty")], height: 120)
    }

    private static func list(_ groups: [SVGElement]) -> SVGElement { SVGElement("g", ["class": "bars"], groups) }

    private static func rectangle(_ bar: BarChart.Bar, x: Double, y: Double, width: Double, height: Double) -> [SVGElement] {
        guard let value = bar.value, !value.isNaN else { return [] }
        let kind = value.isInfinite ? "bar beyond" : value < 0 ? "bar negative" : "bar"
        let (x, y, width, height) = (x.coordinate, y.coordinate, width.coordinate, height.coordinate)
        return [SVGElement("rect", ["class": kind, "x": x, "y": y, "width": width, "height": height])]
    }

    private static func group(_ bar: BarChart.Bar, _ parts: [SVGElement]) -> SVGElement {
        let hint = SVGElement("title", text: DiagramBox.shortened(bar.label) + ": \(bar.valueText)")
        guard let link = MarkupText.localLink(bar.link) else { return SVGElement("g", [:], [hint] + parts) }
        return SVGElement("a", ["href": link], [hint] + parts)
    }
}
