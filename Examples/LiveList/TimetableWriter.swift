import PolyStore

/// A change of the timetable.
enum TimetableChange: Sendable {
    case add(number: Int, destination: String, departure: Int, platform: String)
    case delay(Int, minutes: Int)
    case move(Int, departure: Int)
    case remove(Int)

    func apply(_ transaction: Transaction) throws {
        switch self {
        case .add(let number, let destination, let departure, let platform):
            let train = try transaction.fetchOrCreate(From<Train>(), Where(\.number == number))
            (train.destination, train.departure, train.platform, train.delay) = (destination, departure, platform, 0)
        case .delay(let number, let minutes): try train(number, transaction)?.delay += minutes
        case .move(let number, let departure): try train(number, transaction)?.departure = departure
        case .remove(let number): if let train = try train(number, transaction) { try transaction.delete(train) }
        }
    }

    private func train(_ number: Int, _ transaction: Transaction) throws -> Train? {
        try transaction.fetchOne(From<Train>(), Where(\.number == number))
    }
}

/// Generates changes: the same ones in each run.
struct TimetableWriter {
    private static let destinations = ["Porto", "Lyon", "Graz", "Oslo", "Ghent", "Bari"]
    private var count = 0

    mutating func next() -> TimetableChange {
        defer { count += 1 }
        let number = 100 + count * 7 % 12
        let departure = 360 + count * 47 % 240
        switch count < 8 ? 0 : count % 4 {
        case 0: return .add(number: number, destination: Self.destinations[count % 6], departure: departure, platform: "\(count % 9 + 1)")
        case 1: return .delay(number, minutes: 5)
        case 2: return .move(number, departure: departure)
        default: return count % 8 == 3 ? .remove(number) : .delay(number, minutes: 10)
        }
    }
}
