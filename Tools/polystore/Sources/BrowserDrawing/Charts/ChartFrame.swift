/// The parts that charts share: the element with its texts for screen readers, and the grid with its labels.
struct ChartFrame {
    static let width = 720.0
    static let fontSize = 12.0

    /// The rectangle in which values are drawn.
    var left: Double
    var top: Double
    var right: Double
    var bottom: Double

    /// Returns the element of a chart.
    ///
    /// - Parameter isList: Whether its parts are links or texts that a screen reader visits; otherwise it is one picture.
    static func element(
        id: String, title: String, summary: String, height: Double, isList: Bool, _ children: [SVGElement]
    ) -> SVGElement {
        SVGElement(
            "svg",
            [
                "xmlns": "http://www.w3.org/2000/svg", "class": "chart", "role": isList ? "group" : "img", "aria-labelledby": "\(id)-title",
                "aria-describedby": "\(id)-desc", "width": width.coordinate, "height": height.coordinate,
                "viewBox": "0 0 \(width.coordinate) \(height.coordinate)", "font-size": fontSize.coordinate,
            ],
            [
                SVGElement("title", ["id": "\(id)-title"], text: DiagramBox.shortened(title)),
                SVGElement("desc", ["id": "\(id)-desc"], text: summary),
            ] + children)
    }

    /// Returns horizontal lines at the values of a scale, with the labels at the left.
    func rows(_ scale: ChartScale) -> SVGElement {
        grid(
            scale.ticks.flatMap { tick in
                let y = bottom - scale.position(tick.value) * (bottom - top)
                return [line(left, y, right, y, isZero: tick.value == 0), text(tick.label, left - 8, y + 4, "end")]
            })
    }

    /// Returns vertical lines at the values of a scale, with the labels below.
    func columns(_ scale: ChartScale) -> SVGElement {
        grid(
            scale.ticks.flatMap { tick in
                let x = left + scale.position(tick.value) * (right - left)
                return [line(x, top, x, bottom, isZero: tick.value == 0), text(tick.label, x, bottom + 17, "middle")]
            })
    }

    private func grid(_ children: [SVGElement]) -> SVGElement { SVGElement("g", ["class": "grid", "aria-hidden": "true"], children) }

    private func line(_ x1: Double, _ y1: Double, _ x2: Double, _ y2: Double, isZero: Bool) -> SVGElement {
        SVGElement(
            "line",
            [
                "class": isZero ? "zero" : nil, "x1": x1.coordinate, "y1": y1.coordinate, "x2": x2.coordinate, "y2": y2.coordinate,
            ])
    }

    /// Returns a text of the grid or of a bar.
    func text(_ text: String, _ x: Double, _ y: Double, _ anchor: String, _ kind: String? = nil) -> SVGElement {
        SVGElement("text", ["class": kind, "x": x.coordinate, "y": y.coordinate, "text-anchor": anchor], text: text)
    }

    /// Returns the width of the widest label of a scale.
    static func widest(_ scale: ChartScale) -> Double {
        scale.ticks.reduce(0) { max($0, TextMeasure.width($1.label, size: fontSize)) }
    }
}
