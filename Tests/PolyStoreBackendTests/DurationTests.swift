import PolyStoreBackend
import Testing

@Suite struct DurationTests {
    static let cases: [(Duration, Int)] = [
        (.zero, 0), (.seconds(-3), 0), (.nanoseconds(1), 1), (.microseconds(999), 1), (.milliseconds(1), 1), (.microseconds(1001), 2),
        (.seconds(10), 10_000), (.milliseconds(1999.5), 2000), (.seconds(Int64.max), Int(Int32.max)), (.seconds(3_000_000), Int(Int32.max)),
    ]

    @Test("timeouts are rounded up to milliseconds within the range of the engines", arguments: cases)
    func milliseconds(_ duration: Duration, _ expected: Int) { #expect(duration.inMilliseconds == expected) }

    @Test func aDeadlineInThePastHasPassed() {
        #expect(Deadline(after: .seconds(-1)).isPast)
        #expect(!Deadline(after: .seconds(Int64.max)).isPast)
    }
}
