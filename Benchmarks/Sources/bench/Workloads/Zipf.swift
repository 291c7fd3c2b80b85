import Foundation
import PeerKit

/// Zipf-distributed numbers of 0 ..< count: the distribution of YCSB, with its constant 0.99, after Gray and others,
/// "Quickly Generating Billion-Record Synthetic Databases".
struct Zipf {
    private let theta = 0.99
    private let zeta2: Double
    private(set) var count: Int
    private var zeta: Double

    init(_ count: Int) {
        zeta2 = 1 + pow(0.5, 0.99)
        self.count = 0
        zeta = 0
        grow(to: count)
    }

    mutating func grow(to larger: Int) {
        while count < larger {
            count += 1
            zeta += 1 / pow(Double(count), theta)
        }
    }

    func next(_ random: inout SplitMix64) -> Int {
        let alpha = 1 / (1 - theta)
        let eta = (1 - pow(2 / Double(count), 1 - theta)) / (1 - zeta2 / zeta)
        let u = random.unit()
        let uz = u * zeta
        if uz < 1 { return 0 }
        if uz < zeta2 { return min(1, count - 1) }
        return min(count - 1, Int(Double(count) * pow(eta * u - eta + 1, alpha)))
    }

    /// The same distribution, scattered over the whole range, so that frequent numbers are not adjacent.
    func nextScattered(_ random: inout SplitMix64) -> Int {
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        var value = UInt64(next(&random))
        for _ in 0..<8 {
            hash = (hash ^ (value & 255)) &* 0x100_0000_01b3
            value >>= 8
        }
        return Int(hash % UInt64(count))
    }
}
