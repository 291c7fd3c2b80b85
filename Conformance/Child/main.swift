// The child process of the harnesses, for the built-in backends.
//
//     conformance-child write BACKEND PLACE DURABILITY     commits until it is killed
//     conformance-child damage BACKEND FLIPS CUTS SEED     reads damaged images; prints each, then a summary; status 1 after a wrong answer

import ConformanceTargets
import Foundation
import PolyStoreBackend
import PolyStoreConformance

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("conformance-child: \(message)\n".utf8))
    exit(2)
}

let arguments = CommandLine.arguments
guard arguments.count >= 5, let target = Targets.all.first(where: { $0.name == arguments[2] }) else {
    fail("usage: write BACKEND PLACE DURABILITY | damage BACKEND FLIPS CUTS SEED")
}
switch arguments[1] {
case "write":
    guard let durability = Durability(rawValue: arguments[4]) else { fail("unknown durability: \(arguments[4])") }
    try KillHarness.writeUntilKilled(Targets.configuration(arguments[2], arguments[3]), durability)
case "damage":
    guard arguments.count == 6, let flips = Int(arguments[3]), let cuts = Int(arguments[4]), let seed = UInt64(arguments[5]) else {
        fail("damage needs FLIPS CUTS SEED")
    }
    let report = try await DamageHarness(target).run(flips: flips, cuts: cuts, seed: seed) { print($0) }
    for wrong in report.wrong { print("WRONG \(wrong)") }
    print("\(target.name): \(report)")
    exit(report.wrong.isEmpty ? 0 : 1)
default: fail("there is no \(arguments[1])")
}
