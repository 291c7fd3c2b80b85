/// A part of a date in the proleptic Gregorian calendar, as an integer.
///
/// The calendar has a leap year 4 years after and before another, except in centuries that 400 does not divide, in all years, also before its introduction. The
/// year before 1 is 0. A part is null for NaN, for an infinite date, and for a date of more than 2^53 seconds (285 million years) before or after the beginning
/// of 2001, because such a `Double` does not distinguish seconds.
public enum DatePart: String, Sendable, Hashable, CaseIterable {
    /// The year; 0 is the year before 1.
    case year
    /// The quarter, from 1 to 4.
    case quarter
    /// The month, from 1 to 12.
    case month
    /// The number of the week by ISO 8601, from 1 to 53. A week begins on Monday and belongs to the year of its Thursday.
    case week
    /// The day of the month, from 1 to 31.
    case day
    /// The day of the week by ISO 8601, from 1 (Monday) to 7 (Sunday).
    case weekday
    /// The hour, from 0 to 23.
    case hour
    /// The minute, from 0 to 59.
    case minute
}
