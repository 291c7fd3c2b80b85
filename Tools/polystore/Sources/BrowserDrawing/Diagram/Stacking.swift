/// Places items of a column as near to their preferred positions as their order and sizes permit.
enum Stacking {
    struct Item {
        /// The preferred position of its upper end.
        var wanted: Double
        /// The weight of its preference in the sum of the distances.
        var weight: Double
        /// The minimum distance from its upper end to the upper end of the next item.
        var extent: Double
    }

    /// Returns the positions of the upper ends that minimize the weighted sum of the squared distances to the preferred positions.
    static func positions(_ items: [Item]) -> [Double] {
        // Without the extents of the items before it, a position must not be smaller than that of the item before: a monotone regression.
        var offset = 0.0
        var blocks: [(mean: Double, weight: Double, count: Int)] = []
        for item in items {
            blocks.append((item.wanted - offset, max(item.weight, 1e-6), 1))
            offset += item.extent
            while blocks.count > 1, blocks[blocks.count - 2].mean > blocks[blocks.count - 1].mean {
                let (last, previous) = (blocks.removeLast(), blocks.removeLast())
                let weight = last.weight + previous.weight
                let mean = (last.mean * last.weight + previous.mean * previous.weight) / weight
                blocks.append((mean, weight, last.count + previous.count))
            }
        }
        var (result, before) = ([Double](), 0.0)
        for block in blocks {
            for _ in 0..<block.count {
                result.append(block.mean + before)
                before += items[result.count - 1].extent
            }
        }
        return result
    }
}
