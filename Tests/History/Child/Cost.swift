import Dispatch
import Foundation
import HistoryTestSupport
import PolyStore
import SmallStores

/// Measures the overhead of the history in a small commit.
struct Cost {
    let engine: String
    let path: String
    let count: Int

    func run() throws {
        let forms: [(String, HistoryOptions?)] = [
            ("no history", nil), ("history", HistoryOptions()), ("previous values", HistoryOptions(recordsPreviousValues: true)),
            ("at most 1000 entries", HistoryOptions(maximumCount: 1000)),
        ]
        let stacks = try forms.enumerated().map { index, form in
            let stack = try DataStack(HistoryModels.schema())
            if let store = SmallStores.configuration(engine, "\(path)-\(index)", mapSize: 1 << 30) {
                try stack.addStore(store.durability(.relaxed), history: form.1)
            }
            return stack
        }
        let ids = try stacks.map { try $0.performAndWait { try $0.create(Into<Person>()).objectID } }
        var times = [UInt64](repeating: 0, count: forms.count)
        // The variants alternate, so that load of the machine affects all of them.
        for round in 0..<count {
            for (index, stack) in stacks.enumerated() {
                let start = DispatchTime.now().uptimeNanoseconds
                try stack.performAndWait { try $0.edit(ids[index]).age = round + 1 }
                times[index] += DispatchTime.now().uptimeNanoseconds - start
            }
        }
        for (form, time) in zip(forms, times) {
            print("\(engine), \(form.0): \(String(format: "%.2f", Double(time) / Double(count) / 1000)) µs a commit of one update")
        }
    }
}
