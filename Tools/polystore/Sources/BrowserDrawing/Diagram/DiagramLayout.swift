/// The positions of the boxes and lines of a connected part of a diagram. Its layers are columns from left to right.
struct DiagramLayout {
    /// A line between two boxes. An end is a box, and a distance from its upper end.
    struct Line {
        var from: (box: Int, port: Double)
        var to: (box: Int, port: Double)
    }

    struct Size {
        var width: Double
        var height: Double
    }

    /// The upper left corner of each box.
    private(set) var corners: [(x: Double, y: Double)] = []
    /// The width of each box, which is that of its column.
    private(set) var widths: [Double] = []
    /// The points that each line passes, from its left end to its right one: pairs of points at both sides of a gap between columns.
    private(set) var routes: [[(x: Double, y: Double)]] = []
    private(set) var size = Size(width: 0, height: 0)

    private let boxes: [Size]
    private let lines: [Line]
    private let order: LayerOrder

    static let columnGap = 96.0
    private static let boxGap = 26.0
    private static let lineGap = 14.0

    init(boxes: [Size], lines: [Line]) {
        self.boxes = boxes
        self.lines = lines
        let edges = lines.map { (from: $0.from.box, to: $0.to.box) }
        let heights = boxes.map { $0.height + Self.boxGap }
        // A drawing about as high as wide, but columns of a screen's height at least.
        let area = zip(boxes, heights).reduce(0) { $0 + ($1.0.width + Self.columnGap) * $1.1 }
        let layering = Layering(heights: heights, edges: edges, limit: max(760, area.squareRoot() * 0.9))
        order = LayerOrder(layers: layering.layers, edges: edges)
        place()
    }

    private mutating func place() {
        let columns = order.layers.map { items in items.reduce(0) { max($0, $1 < boxes.count ? boxes[$1].width : 0) } }
        var (left, lefts) = (0.0, [Double]())
        for column in columns {
            lefts.append(left)
            left += column + Self.columnGap
        }
        let tops = tops()
        corners = boxes.indices.map { (lefts[order.layerOfItem[$0]], tops[$0]) }
        widths = boxes.indices.map { columns[order.layerOfItem[$0]] }
        routes = zip(order.paths, lines).map { path, line in route(path, line, lefts, columns, tops) }
        let bottom = boxes.indices.reduce(0) { max($0, tops[$1] + boxes[$1].height) }
        size = Size(width: max(0, left - Self.columnGap), height: max(bottom, routes.joined().reduce(0) { max($0, $1.y) }))
    }

    private func route(
        _ path: [Int], _ line: Line, _ lefts: [Double], _ columns: [Double], _ tops: [Double]
    ) -> [(x: Double, y: Double)] {
        guard let first = path.first else { return [] }
        let ends = first == line.from.box ? (line.from.port, line.to.port) : (line.to.port, line.from.port)
        var points: [(x: Double, y: Double)] = []
        for (index, item) in path.enumerated() {
            let layer = order.layerOfItem[item]
            let y = tops[item] + (index == 0 ? ends.0 : index == path.count - 1 ? ends.1 : 0)
            if index > 0 { points.append((lefts[layer], y)) }
            if index < path.count - 1 { points.append((lefts[layer] + columns[layer], y)) }
        }
        return points
    }

    /// Returns the upper ends of all items. Each column in turn is moved to where its lines are straight.
    private func tops() -> [Double] {
        var tops = [Double](repeating: 0, count: order.layerOfItem.count)
        for layer in order.layers {
            var top = 0.0
            for item in layer {
                tops[item] = top
                top += extent(item)
            }
        }
        let wishes = wishes()
        for pass in 0..<8 {
            let layers =
                pass.isMultiple(of: 2) ? Array(order.layers.indices.dropFirst()) : Array(order.layers.indices.dropLast().reversed())
            for layer in layers { align(layer, &tops, pass.isMultiple(of: 2) ? wishes.before : wishes.after) }
        }
        for layer in order.layers.indices { align(layer, &tops, zip(wishes.before, wishes.after).map { $0 + $1 }) }
        let highest = tops.min() ?? 0
        return tops.map { $0 - highest }
    }

    /// A neighbour of an item, and the distance between their upper ends at which a line between them is straight.
    private typealias Wish = (item: Int, distance: Double)

    private func wishes() -> (before: [[Wish]], after: [[Wish]]) {
        var before = [[Wish]](repeating: [], count: order.layerOfItem.count)
        var after = before
        for (path, line) in zip(order.paths, lines) where !path.isEmpty {
            let isForward = path[0] == line.from.box
            let ends = isForward ? (line.from.port, line.to.port) : (line.to.port, line.from.port)
            for (index, (first, second)) in zip(path, path.dropFirst()).enumerated() {
                let distance = (index == 0 ? ends.0 : 0) - (index == path.count - 2 ? ends.1 : 0)
                before[second].append((first, distance))
                after[first].append((second, -distance))
            }
        }
        return (before, after)
    }

    private func align(_ layer: Int, _ tops: inout [Double], _ wishes: [[Wish]]) {
        let items = order.layers[layer]
        let stacked = items.map { item in
            let wanted = wishes[item].map { tops[$0.item] + $0.distance }
            let mean = wanted.isEmpty ? tops[item] : wanted.reduce(0, +) / Double(wanted.count)
            // A point of a line that passes several columns counts more, so that long lines are straight.
            let weight = wanted.isEmpty ? 0.1 : item < boxes.count ? Double(wanted.count) : 3
            return Stacking.Item(wanted: mean, weight: weight, extent: extent(item))
        }
        for (item, top) in zip(items, Stacking.positions(stacked)) { tops[item] = top }
    }

    private func extent(_ item: Int) -> Double { item < boxes.count ? boxes[item].height + Self.boxGap : Self.lineGap }
}
