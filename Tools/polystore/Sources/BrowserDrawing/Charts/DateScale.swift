/// A scale of points in time, in UTC.
enum DateScale {
    private static let day = 86_400.0
    private static let steps: [(seconds: Double, unit: Unit)] = [
        (1, .second), (5, .second), (15, .second), (60, .minute), (300, .minute), (900, .minute), (3_600, .minute), (10_800, .minute),
        (21_600, .minute), (day, .day), (2 * day, .day), (7 * day, .day), (14 * day, .day),
    ]
    private static let months = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1_200, 2_400, 6_000, 12_000]

    private enum Unit { case second, minute, day }

    /// Returns a scale for points in time in seconds since 1970. It begins and ends at the first and at the last of them.
    static func scale(_ seconds: some Sequence<Double>, steps count: Int = 6) -> ChartScale {
        var (low, high) = ChartScale.range(seconds) ?? (0, day)
        // Dates of years with more digits have no use in a chart, and their days would not fit in an integer.
        guard max(low.magnitude, high.magnitude) < 3e11 else { return ChartScale([low, high], includesZero: false) }
        if high - low < 1 { (low, high) = (low - 0.5, high + 0.5) }
        let rough = (high - low) / Double(count)
        let ticks = steps.first { $0.seconds >= rough }.map { regular($0, low, high) } ?? monthly(rough, low, high)
        return ChartScale(from: low, to: high, ticks: ticks)
    }

    /// Returns a point in time as it is shown in a hint.
    static func text(_ seconds: Double) -> String {
        guard seconds.isFinite, seconds.magnitude < 3e11 else { return NumberText.text(seconds) }
        let date = CalendarDate(seconds)
        return date.secondOfDay == 0 ? date.day : "\(date.day) \(date.time(seconds: true))"
    }

    private static func regular(_ step: (seconds: Double, unit: Unit), _ low: Double, _ high: Double) -> [(value: Double, label: String)] {
        let first = (low / step.seconds).rounded(.up)
        return (0...20).map { (first + Double($0)) * step.seconds }.filter { $0 <= high }.map { value in
            let date = CalendarDate(value)
            switch step.unit {
            case .second: return (value, date.time(seconds: true))
            case .minute: return (value, date.secondOfDay == 0 ? date.day : date.time(seconds: false))
            case .day: return (value, date.day)
            }
        }
    }

    private static func monthly(_ rough: Double, _ low: Double, _ high: Double) -> [(value: Double, label: String)] {
        let step = months.first { Double($0) * 30.5 * day >= rough } ?? 12_000
        let first = CalendarDate(low)
        let start = Int((Double(first.year * 12 + first.month - 1) / Double(step)).rounded(.down)) * step
        return (0...24).map { start + $0 * step }.compactMap { month in
            let year = month >= 0 ? month / 12 : (month - 11) / 12
            let date = CalendarDate(year: year, month: month - year * 12 + 1)
            guard low <= date.seconds, date.seconds <= high else { return nil }
            return (date.seconds, step < 12 ? date.yearAndMonth : "\(year)")
        }
    }
}

/// A date of the Gregorian calendar in UTC.
struct CalendarDate {
    let year: Int
    let month: Int
    let dayOfMonth: Int
    let secondOfDay: Int

    /// Creates the date of a point in time in seconds since 1970, at most 3e11 before or after it.
    init(_ seconds: Double) {
        let whole = Int(seconds.rounded(.down))
        let days = whole >= 0 ? whole / 86_400 : (whole - 86_399) / 86_400
        secondOfDay = whole - days * 86_400
        // Years that begin in March have the leap day at their end, and 400 of them have the same number of days.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        dayOfMonth = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    /// Creates the first day of a month.
    init(year: Int, month: Int) {
        self.year = year
        self.month = month
        dayOfMonth = 1
        secondOfDay = 0
    }

    /// The beginning of the day in seconds since 1970.
    var seconds: Double {
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + dayOfMonth - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return Double(era * 146_097 + dayOfEra - 719_468) * 86_400
    }

    var yearAndMonth: String { "\(Self.filled(year, 4))-\(Self.filled(month, 2))" }
    var day: String { "\(yearAndMonth)-\(Self.filled(dayOfMonth, 2))" }

    func time(seconds: Bool) -> String {
        let minutes = "\(Self.filled(secondOfDay / 3_600, 2)):\(Self.filled(secondOfDay / 60 % 60, 2))"
        return seconds ? "\(minutes):\(Self.filled(secondOfDay % 60, 2))" : minutes
    }

    private static func filled(_ value: Int, _ count: Int) -> String {
        let digits = String(value.magnitude)
        return (value < 0 ? "-" : "") + String(repeating: "0", count: max(0, count - digits.count)) + digits
    }
}
