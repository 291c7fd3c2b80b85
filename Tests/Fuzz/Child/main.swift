import FormatFuzzing
import Foundation

// Mutates inputs of one reader for a number of seconds and checks the results; see Tests/Fuzz/run.sh.
// usage: fuzz-child READER SECONDS SEED STATE [CASES]
// STATE is a file with the seed of the current case, to reproduce a case that ends the process.

let arguments = CommandLine.arguments
guard arguments.count >= 5, FormatFuzzer.readers.contains(arguments[1]), let seconds = Double(arguments[2]), let seed = UInt64(arguments[3])
else {
    print("usage: fuzz-child \(FormatFuzzer.readers.joined(separator: "|")) SECONDS SEED STATE [CASES]")
    exit(64)
}
let most = arguments.count > 5 ? Int(arguments[5]) ?? .max : .max
let state = open(arguments[4], O_WRONLY | O_CREAT, 0o644)
let end = ContinuousClock.now + .seconds(seconds)
var counts = FormatFuzzer.Counts()
var current = seed
while counts.cases < most, ContinuousClock.now < end {
    var text = current
    withUnsafeBytes(of: &text) { _ = pwrite(state, $0.baseAddress, $0.count, 0) }
    var fuzzer = FormatFuzzer(reader: arguments[1], seed: current)
    if let failure = fuzzer.run(&counts) {
        print("\(arguments[1]), seed \(current): \(failure)")
        exit(1)
    }
    current &+= 1
}
print("\(arguments[1]): \(counts.cases) cases from seed \(seed), \(counts.records) records, \(counts.errors) errors")
