/// A chart with a line through points, as SVG.
package struct LineChart: Sendable {
    /// The kind of the values on the horizontal axis.
    package enum Axis: Sendable {
        case numbers
        /// Points in time in seconds since 1970, shown in UTC.
        case dates
    }

    package struct Point: Sendable {
        package var x: Double
        /// The value; nil makes a gap in the line.
        package var y: Double?

        package init(_ x: Double, _ y: Double?) {
            self.x = x
            self.y = y
        }

        /// The value if it can be drawn.
        var drawn: Double? { y.flatMap { $0.isFinite ? $0 : nil } }
    }

    /// The chart as an element `svg`.
    package let svg: String
    /// A description of the chart, in one or two sentences.
    package let summary: String

    /// The largest number of points with a mark and a hint of their own.
    private static let mostMarks = 100
    private static let height = 300.0

    /// Draws a chart.
    ///
    /// - Parameter title: What is shown, such as "mean population by month".
    /// - Parameter points: The points in any order. A point whose `x` is not finite is left out; a value that is not finite makes a gap.
    /// - Parameter id: The beginning of the ids of elements, which must be unique in a page.
    package init(title: String, _ points: [Point], axis: Axis = .numbers, id: String = "chart") {
        let sorted = points.enumerated().filter { $0.element.x.isFinite }.sorted { ($0.element.x, $0.offset) < ($1.element.x, $1.offset) }
            .map(\.element)
        summary = Self.summary(sorted, axis, omitted: points.count - sorted.count)
        let parts = Self.parts(sorted, axis)
        svg = ChartFrame.element(id: id, title: title, summary: summary, height: Self.height, isList: false, parts).xml
    }

    private static func parts(_ points: [Point], _ axis: Axis) -> [SVGElement] {
        let values = ChartScale(points.compactMap(\.y), includesZero: false)
        let frame = ChartFrame(left: ChartFrame.widest(values) + 16, top: 12, right: ChartFrame.width - 36, bottom: height - 32)
        guard points.contains(where: { $0.drawn != nil }) else {
            return [frame.text("No values", ChartFrame.width / 2, height / 2, "middle", "empty")]
        }
        let scale = axis == .dates ? DateScale.scale(points.map(\.x)) : ChartScale(points.map(\.x), includesZero: false)
        func place(_ point: Point) -> (x: Double, y: Double)? {
            point.drawn.map { y in
                (
                    frame.left + scale.position(point.x) * (frame.right - frame.left),
                    frame.bottom - values.position(y) * (frame.bottom - frame.top)
                )
            }
        }
        let line = SVGElement("path", ["class": "line", "d": path(points.map(place))])
        let marks = points.count > mostMarks ? isolated(points) : points
        let dots = marks.compactMap { point in place(point).map { dot(point, axis, $0) } }
        return [frame.rows(values), frame.columns(scale), line] + (dots.isEmpty ? [] : [SVGElement("g", ["class": "points"], dots)])
    }

    private static func dot(_ point: Point, _ axis: Axis, _ place: (x: Double, y: Double)) -> SVGElement {
        let x = axis == .dates ? DateScale.text(point.x) : NumberText.text(point.x)
        let circle = SVGElement("circle", ["cx": place.x.coordinate, "cy": place.y.coordinate, "r": "3.5"])
        return SVGElement("g", [:], [SVGElement("title", text: "\(x): \(NumberText.text(point.y ?? .nan))"), circle])
    }

    /// Returns the points between two gaps, which a line does not show.
    private static func isolated(_ points: [Point]) -> [Point] {
        points.indices.filter { index in
            (index == 0 || points[index - 1].drawn == nil) && (index == points.count - 1 || points[index + 1].drawn == nil)
        }.map { points[$0] }
    }

    /// Returns the path of the line through positions, with a gap for each missing one.
    ///
    /// If more than four points are in one column of pixels, the path has the first, the lowest, the highest and the last of them.
    private static func path(_ places: [(x: Double, y: Double)?]) -> String {
        var (path, isDrawing, column) = ("", false, [(x: Double, y: Double)]())
        func flush() {
            for place in column.count > 4 ? Self.outline(column) : column {
                path += "\(path.isEmpty ? "" : " ")\(isDrawing ? "L" : "M")\(place.x.coordinate) \(place.y.coordinate)"
                isDrawing = true
            }
            column = []
        }
        for place in places {
            if let first = column.first, place.map({ $0.x.rounded() != first.x.rounded() }) ?? true { flush() }
            guard let place else {
                isDrawing = false
                continue
            }
            column.append(place)
        }
        flush()
        return path
    }

    private static func outline(_ column: [(x: Double, y: Double)]) -> [(x: Double, y: Double)] {
        let lowest = column.indices.max { column[$0].y < column[$1].y } ?? 0
        let highest = column.indices.min { column[$0].y < column[$1].y } ?? 0
        return Set([0, lowest, highest, column.count - 1]).sorted().map { column[$0] }
    }

    private static func summary(_ points: [Point], _ axis: Axis, omitted: Int) -> String {
        func text(_ x: Double) -> String { axis == .dates ? DateScale.text(x) : NumberText.text(x) }
        guard let first = points.first, let last = points.last else { return "No points." }
        var sentences = [
            points.count == 1 ? "1 point, at \(text(first.x))." : "\(points.count) points, from \(text(first.x)) to \(text(last.x))."
        ]
        let drawn = points.compactMap(\.drawn)
        if let low = drawn.min(), let high = drawn.max() {
            sentences.append("Values from \(NumberText.text(low)) to \(NumberText.text(high)).")
        }
        let gaps = points.count - drawn.count
        if gaps > 0 { sentences.append("\(gaps) without a number.") }
        if omitted > 0 { sentences.append("\(omitted) left out, because their position is not a number.") }
        return sentences.joined(separator: " ")
    }
}
