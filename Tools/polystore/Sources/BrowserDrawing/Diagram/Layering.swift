/// Assigns the nodes of a graph to layers, so that each edge leads to another layer.
struct Layering {
    /// The layer of each node.
    private(set) var layers: [Int]

    private let edges: [(from: Int, to: Int)]
    private let heights: [Double]
    private let limit: Double
    private var filled: [Double] = []

    /// Assigns layers.
    ///
    /// An edge leads from a lower layer to a higher one, unless it closes a cycle. A layer contains nodes of at most `limit` in height, or one node.
    init(heights: [Double], edges: [(from: Int, to: Int)], limit: Double) {
        self.heights = heights
        self.limit = limit
        layers = [Int](repeating: 0, count: heights.count)
        self.edges = Self.withoutCycles(heights.count, edges)
        assign()
        pullSources()
    }

    /// Returns the edges without those that lead from a node to itself, and with those that close a cycle reversed.
    private static func withoutCycles(_ count: Int, _ edges: [(from: Int, to: Int)]) -> [(from: Int, to: Int)] {
        var targets = [[Int]](repeating: [], count: count)
        var incoming = [Int](repeating: 0, count: count)
        for edge in edges where edge.from != edge.to {
            targets[edge.from].append(edge.to)
            incoming[edge.to] += 1
        }
        // Nodes without incoming edges are the beginnings of an order; a cycle begins at its first node.
        let starts = (0..<count).filter { incoming[$0] == 0 } + (0..<count).filter { incoming[$0] > 0 }
        let order = finishingOrder(starts, targets)
        return edges.filter { $0.from != $0.to }.map { order[$0.from] > order[$0.to] ? $0 : ($0.to, $0.from) }
    }

    /// Returns for each node when a search in depth leaves it. An edge to a node that is left later closes a cycle.
    private static func finishingOrder(_ starts: [Int], _ targets: [[Int]]) -> [Int] {
        var (order, seen, left) = ([Int](repeating: 0, count: targets.count), [Bool](repeating: false, count: targets.count), 0)
        for start in starts where !seen[start] {
            var path = [(node: start, next: 0)]
            seen[start] = true
            while let top = path.last {
                if top.next < targets[top.node].count {
                    path[path.count - 1].next += 1
                    let target = targets[top.node][top.next]
                    if !seen[target] {
                        seen[target] = true
                        path.append((target, 0))
                    }
                } else {
                    order[top.node] = left
                    left += 1
                    path.removeLast()
                }
            }
        }
        return order
    }

    private mutating func assign() {
        var waiting = [Int](repeating: 0, count: heights.count)
        for edge in edges { waiting[edge.to] += 1 }
        var ready = heights.indices.filter { waiting[$0] == 0 }
        var next = 0
        while next < ready.count {
            let node = ready[next]
            next += 1
            place(node, atLeast: layers[node])
            for edge in edges where edge.from == node {
                layers[edge.to] = max(layers[edge.to], layers[node] + 1)
                waiting[edge.to] -= 1
                if waiting[edge.to] == 0 { ready.append(edge.to) }
            }
        }
    }

    /// Places a node in the first layer that has room for it.
    private mutating func place(_ node: Int, atLeast first: Int) {
        var layer = first
        while layer < filled.count, filled[layer] > 0, filled[layer] + heights[node] > limit { layer += 1 }
        while filled.count <= layer { filled.append(0) }
        filled[layer] += heights[node]
        layers[node] = layer
    }

    /// Moves nodes without incoming edges next to the nodes to which they lead, so that their edges are short.
    private mutating func pullSources() {
        let targets = Set(edges.map(\.to))
        for node in heights.indices where !targets.contains(node) {
            guard let nearest = edges.filter({ $0.from == node }).map({ layers[$0.to] }).min(), nearest - 1 > layers[node] else { continue }
            guard filled[nearest - 1] + heights[node] <= limit else { continue }
            filled[layers[node]] -= heights[node]
            filled[nearest - 1] += heights[node]
            layers[node] = nearest - 1
        }
    }
}
