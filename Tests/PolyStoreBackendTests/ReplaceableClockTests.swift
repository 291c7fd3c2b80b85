import PolyStoreBackend
import Testing

@Suite struct ReplaceableClockTests {
    @Test func readingsDoNotAddToTheFunction() {
        let clock = ReplaceableClock { 7 }
        // If each reading wrapped the function once more, the last one would exceed the stack.
        for _ in 0..<1_000_000 where clock.now != 7 { Issue.record("The clock shows another time.") }
        clock.exchange { 8 }
        #expect(clock.now == 8)
    }
}
