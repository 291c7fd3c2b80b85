import FormatFuzzing
import Testing

@Suite struct FuzzTests {
    /// Runs a fixed number of the cases of Tests/Fuzz/run.sh.
    @Test(arguments: FormatFuzzer.readers) func randomInputsHoldTheInvariants(reader: String) {
        var counts = FormatFuzzer.Counts()
        for seed in 0..<UInt64(2000) {
            var fuzzer = FormatFuzzer(reader: reader, seed: seed)
            if let failure = fuzzer.run(&counts) {
                Issue.record("seed \(seed): \(failure)")
                return
            }
        }
        #expect(counts.records > 1000 && counts.errors > 1000)
    }
}
