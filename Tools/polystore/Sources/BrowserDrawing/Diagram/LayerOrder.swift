/// The items of each layer from top to bottom: nodes, and the points at which edges pass layers between their ends. They are ordered so that few edges cross.
struct LayerOrder {
    /// The items of each layer.
    private(set) var layers: [[Int]]
    /// The layer of each item. The first items are the nodes.
    let layerOfItem: [Int]
    /// The items that each edge passes from its lower layer to its higher one, with the nodes at both ends; empty if both ends are in one layer.
    let paths: [[Int]]

    private var before: [[Int]]
    private var after: [[Int]]
    private var positions: [Int]

    /// Orders items.
    ///
    /// - Parameter layers: The layer of each node.
    /// - Parameter edges: Pairs of nodes, in any direction.
    init(layers nodeLayers: [Int], edges: [(from: Int, to: Int)]) {
        var layerOfItem = nodeLayers
        paths = edges.map { edge in
            let (low, high) = nodeLayers[edge.from] < nodeLayers[edge.to] ? (edge.from, edge.to) : (edge.to, edge.from)
            guard nodeLayers[low] < nodeLayers[high] else { return [] }
            let between = (nodeLayers[low] + 1..<nodeLayers[high]).map { layer in
                layerOfItem.append(layer)
                return layerOfItem.count - 1
            }
            return [low] + between + [high]
        }
        self.layerOfItem = layerOfItem
        layers = [[Int]](repeating: [], count: (layerOfItem.max() ?? -1) + 1)
        before = [[Int]](repeating: [], count: layerOfItem.count)
        after = before
        positions = [Int](repeating: 0, count: layerOfItem.count)
        for (item, layer) in layerOfItem.enumerated() { layers[layer].append(item) }
        for path in paths {
            for (first, second) in zip(path, path.dropFirst()) {
                after[first].append(second)
                before[second].append(first)
            }
        }
        updatePositions()
        improve()
    }

    /// The number of pairs of edges that cross between two layers.
    var crossings: Int {
        layers.dropLast().reduce(0) { sum, layer in
            var (count, ends) = (sum, [Int]())
            for item in layer {
                let targets = after[item].map { positions[$0] }
                for target in targets { count += ends.count { $0 > target } }
                ends += targets
            }
            return count
        }
    }

    private mutating func improve() {
        var (best, fewest) = (layers, crossings)
        for sweep in 0..<24 where fewest > 0 {
            if sweep.isMultiple(of: 2) {
                for layer in layers.indices.dropFirst() { sort(layer, by: before) }
            } else {
                for layer in layers.indices.dropLast().reversed() { sort(layer, by: after) }
            }
            let count = crossings
            if count < fewest { (best, fewest) = (layers, count) }
        }
        layers = best
        updatePositions()
    }

    /// Sorts a layer by the mean positions of the neighbours in the layer beside it. Items without neighbours keep their positions.
    private mutating func sort(_ layer: Int, by neighbours: [[Int]]) {
        let keyed = layers[layer].enumerated().map { index, item in
            let found = neighbours[item].map { positions[$0] }
            return (key: found.isEmpty ? Double(index) : Double(found.reduce(0, +)) / Double(found.count), index: index, item: item)
        }
        layers[layer] = keyed.sorted { ($0.key, $0.index) < ($1.key, $1.index) }.map(\.item)
        for (index, item) in layers[layer].enumerated() { positions[item] = index }
    }

    private mutating func updatePositions() {
        for layer in layers { for (index, item) in layer.enumerated() { positions[item] = index } }
    }
}
