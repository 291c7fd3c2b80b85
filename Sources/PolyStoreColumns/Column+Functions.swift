public import Foundation
public import PolyStoreBackend
import PolyStoreConditions

// MARK: Parts of dates

extension ColumnValue {
    fileprivate func part(_ part: DatePart, _ zone: String?) -> ColumnValue { ColumnValue([self]) { .datePart(part, $0[0], zone: zone) } }

    fileprivate func function(_ function: ScalarFunction) -> ColumnValue { ColumnValue([self]) { .function(function, $0) } }
}

/// Parts of dates: `.where { $0.born.year == 1990 }`, `.groupBy { $0.created.part(.month, in: "Europe/Berlin") }`.
///
/// A part is null for a date that is not finite, and for one that is more than 285 million years from 2001.
extension Column where V == Date {
    /// Returns a part of the date in a time zone.
    /// - Parameters:
    ///   - part: The part.
    ///   - zone: `UTC`, an offset such as `+05:30`, or the name of a zone of the tz database such as `Europe/Berlin`. SQL does not know the rules of zones: a
    ///     condition on such a part is evaluated after the rows were read.
    public func part(_ part: DatePart, in zone: String = "UTC") -> Column<Int> { Column<Int>(_$value: _$value.part(part, zone)) }
    /// The year in the proleptic Gregorian calendar, in UTC; the year before 1 is 0.
    public var year: Column<Int> { part(.year) }
    /// The quarter, from 1 to 4, in UTC.
    public var quarter: Column<Int> { part(.quarter) }
    /// The month, from 1 to 12, in UTC.
    public var month: Column<Int> { part(.month) }
    /// The number of the week by ISO 8601, from 1 to 53, in UTC.
    public var week: Column<Int> { part(.week) }
    /// The day of the month, from 1 to 31, in UTC.
    public var day: Column<Int> { part(.day) }
    /// The day of the week by ISO 8601, from 1 (Monday) to 7 (Sunday), in UTC.
    public var weekday: Column<Int> { part(.weekday) }
    /// The hour, from 0 to 23, in UTC.
    public var hour: Column<Int> { part(.hour) }
    /// The minute, from 0 to 59, in UTC.
    public var minute: Column<Int> { part(.minute) }
}

extension Column where V == Date? {
    /// Returns a part of the date in a time zone, as of a date that is not optional; null for null.
    public func part(_ part: DatePart, in zone: String = "UTC") -> Column<Int?> { Column<Int?>(_$value: _$value.part(part, zone)) }
    /// The year in the proleptic Gregorian calendar, in UTC; the year before 1 is 0.
    public var year: Column<Int?> { part(.year) }
    /// The quarter, from 1 to 4, in UTC.
    public var quarter: Column<Int?> { part(.quarter) }
    /// The month, from 1 to 12, in UTC.
    public var month: Column<Int?> { part(.month) }
    /// The number of the week by ISO 8601, from 1 to 53, in UTC.
    public var week: Column<Int?> { part(.week) }
    /// The day of the month, from 1 to 31, in UTC.
    public var day: Column<Int?> { part(.day) }
    /// The day of the week by ISO 8601, from 1 (Monday) to 7 (Sunday), in UTC.
    public var weekday: Column<Int?> { part(.weekday) }
    /// The hour, from 0 to 23, in UTC.
    public var hour: Column<Int?> { part(.hour) }
    /// The minute, from 0 to 59, in UTC.
    public var minute: Column<Int?> { part(.minute) }
}

// MARK: Functions of numbers

extension Column where V: ColumnNumber {
    /// The natural logarithm as a real; null for 0 and negative numbers.
    public var ln: Column<Double?> { Column<Double?>(_$value: _$value.function(.ln)) }
    /// The decimal logarithm as a real; null for 0 and negative numbers.
    public var log10: Column<Double?> { Column<Double?>(_$value: _$value.function(.log)) }
    /// The exponential function as a real.
    public var exp: Column<Double?> { Column<Double?>(_$value: _$value.function(.exp)) }
    /// The square root as a real; null for negative numbers.
    public var squareRoot: Column<Double?> { Column<Double?>(_$value: _$value.function(.sqrt)) }
    /// The absolute value; null if an integer overflows.
    public var magnitude: Column { Column(_$value: _$value.function(.abs)) }
    /// The greatest whole number that is not greater.
    public var floor: Column { Column(_$value: _$value.function(.floor)) }
    /// The least whole number that is not less.
    public var ceiling: Column { Column(_$value: _$value.function(.ceiling)) }
    /// The number without its fraction.
    public var truncated: Column { Column(_$value: _$value.function(.trunc)) }

    /// Returns a power as a real; null if it is not a number.
    public func power(_ exponent: Double) -> Column<Double?> {
        Column<Double?>(_$value: ColumnValue([_$value, ColumnValue(constant: exponent)]) { .function(.power, $0) })
    }
}

// MARK: Random orders

extension Column where V: ColumnIdentifier {
    /// Returns a pseudorandom integer of the row id and a seed: `.where { $0.objectID.shuffle(seed: 42) % 10 == 0 }`, `.orderBy { $0.objectID.shuffle(seed: 42) }`.
    ///
    /// One seed yields the same value on every backend and in every process; see `ScalarFunction.shuffle`. Values are positive or negative, and so are
    /// their remainders.
    public func shuffle(seed: Int) -> Column<Int> {
        Column<Int>(_$value: ColumnValue([_$value, ColumnValue(constant: seed)]) { .function(.shuffle, $0) })
    }
}
