import Foundation
import PolyStoreBackend

/// The division of numbers or dates between a least and a greatest value into ranges in order.
struct FacetRanges: Sendable {
    /// The beginnings of the ranges, ascending; each range ends where the next begins.
    let edges: [Double]
    private let titles: [String]
    private let type: AttributeType?

    /// The greatest number of ranges, approximately.
    private static let most = 12

    /// - Parameters:
    ///   - least: The least value, which is finite.
    ///   - greatest: The greatest value, which is finite.
    init(from least: Double, to greatest: Double, _ type: AttributeType?) {
        self.type = type
        let calendar = type == .date ? FacetPeriods(from: least, to: greatest) : nil
        if let calendar {
            (edges, titles) = (calendar.edges, calendar.titles)
        } else {
            edges = Self.edges(least, greatest, isWhole: FacetCondition.isInteger(type))
            titles = []
        }
    }

    /// Returns multiples of 1, 2 or 5 times a power of ten.
    private static func edges(_ least: Double, _ greatest: Double, isWhole: Bool) -> [Double] {
        let span = greatest / Double(most) - least / Double(most)
        guard span > 0 else { return [least] }
        let power = pow(10, floor(log10(span)))
        let step = [1.0, 2, 5, 10].map { $0 * power }.first { $0 >= span } ?? span
        let width = isWhole ? max(1, step.rounded()) : step
        guard width.isFinite, width > 0 else { return [least] }
        let first = floor(least / width)
        var edges: [Double] = []
        for number in 0..<(2 * most) {
            // The first edge is never above the least value, also where the multiple is not exact.
            let edge = number == 0 ? min(first * width, least) : (first + Double(number)) * width
            guard edge <= greatest, edge > edges.last ?? -.infinity else { break }
            edges.append(edge.isFinite ? edge : least)
        }
        return edges.isEmpty ? [least] : edges
    }

    /// Returns the position of the range of a value; nil if it is before the first.
    func position(of value: Double) -> Int? {
        var (low, high) = (0, edges.count)
        while low < high {
            let middle = (low + high) / 2
            if edges[middle] <= value { low = middle + 1 } else { high = middle }
        }
        return low == 0 ? nil : low - 1
    }

    /// Returns the ranges without counts.
    func buckets(_ path: String) -> [Facet.Bucket] {
        edges.indices.map { index in
            let lower = text(edges[index])
            guard index + 1 < edges.count else {
                let end = FacetCondition.isInteger(type) ? "" : " AND \(path) <= \(FacetCondition.greatest(type))"
                return Facet.Bucket(title: title(index), count: 0, condition: "\(path) >= \(lower)\(end)")
            }
            return Facet.Bucket(
                title: title(index), count: 0, condition: "\(path) >= \(lower) AND \(path) < \(text(edges[index + 1]))")
        }
    }

    private func text(_ edge: Double) -> String { type == .date ? FacetCondition.date(edge) : FacetCondition.number(edge) }

    private func title(_ index: Int) -> String {
        if titles.indices.contains(index) { return titles[index] }
        let lower = FacetCondition.number(edges[index])
        guard index + 1 < edges.count else { return "≥ \(lower)" }
        return "\(lower) … < \(FacetCondition.number(edges[index + 1]))"
    }
}

/// Months, years, decades or longer periods between two dates.
private struct FacetPeriods {
    private(set) var edges: [Double] = []
    private(set) var titles: [String] = []

    private static let mostMonths = 36

    /// - Returns: nil for dates that the calendar does not know.
    init?(from least: Double, to greatest: Double) {
        var calendar = Calendar(identifier: .gregorian)
        guard let zone = TimeZone(secondsFromGMT: 0), least.magnitude < 6e10, greatest.magnitude < 6e10 else { return nil }
        calendar.timeZone = zone
        func month(_ seconds: Double) -> Int {
            let date = Date(timeIntervalSinceReferenceDate: seconds)
            let parts = calendar.dateComponents([.era, .year, .month], from: date)
            let year = parts.era == 0 ? 1 - (parts.year ?? 1) : parts.year ?? 1
            return year * 12 + (parts.month ?? 1) - 1
        }
        let (first, last) = (month(least), month(greatest))
        let steps = [1, 12, 120, 1200, 12000]
        let step = steps.first { Self.floor(last, $0) - Self.floor(first, $0) < Self.mostMonths } ?? 12000
        for number in Self.floor(first, step)...Self.floor(last, step) {
            let start = number * step
            let (year, part) = (Self.floor(start, 12), start - Self.floor(start, 12) * 12 + 1)
            guard let seconds = Self.seconds(year, part, calendar) else { continue }
            edges.append(seconds)
            titles.append(step == 1 ? String(format: "%04d-%02d", year, part) : step == 12 ? "\(year)" : "\(year)–\(year + step / 12 - 1)")
        }
        guard let start = edges.first, start <= least else { return nil }
    }

    private static func floor(_ value: Int, _ step: Int) -> Int { value >= 0 ? value / step : -((-value + step - 1) / step) }

    /// Returns the beginning of a month of an astronomical year, in seconds since 2001.
    private static func seconds(_ year: Int, _ month: Int, _ calendar: Calendar) -> Double? {
        let parts = DateComponents(era: year > 0 ? 1 : 0, year: year > 0 ? year : 1 - year, month: month, day: 1)
        return calendar.date(from: parts)?.timeIntervalSinceReferenceDate
    }
}
