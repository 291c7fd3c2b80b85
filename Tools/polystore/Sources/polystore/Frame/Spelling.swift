/// Names that were probably meant.
enum Spelling {
    /// Returns the name that differs least from a misspelt one; nil if none is near.
    static func nearest(_ name: String, among names: [String]) -> String? {
        let (given, limit) = (Array(name.lowercased()), max(1, name.count / 3))
        return names.map { ($0, distance(given, Array($0.lowercased()))) }.filter { $0.1 <= limit }.min { $0.1 < $1.1 }?.0
    }

    /// Returns the least number of characters to insert, delete, replace or swap with the next.
    private static func distance(_ left: [Character], _ right: [Character]) -> Int {
        var (earlier, previous) = ([Int](), Array(0...right.count))
        for row in left.indices {
            var current = [row + 1]
            for column in right.indices {
                var least = min(previous[column + 1], current[column]) + 1
                least = min(least, previous[column] + (left[row] == right[column] ? 0 : 1))
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    least = min(least, earlier[column - 1] + 1)
                }
                current.append(least)
            }
            (earlier, previous) = (previous, current)
        }
        return previous[right.count]
    }
}
