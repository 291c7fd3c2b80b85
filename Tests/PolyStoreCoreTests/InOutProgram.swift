import PolyStoreBackend
import PolyStoreCore
import SeededRandom
import TestModels

/// Random changes of lists in place, several in one access, beside a model with plain arrays.
struct InOutProgram {
    private let transaction: Transaction
    private let lists: [Playlist]
    private let tracks: [Track]
    private var expected: [[Track]]
    private var extras: [[Track]]
    private(set) var problems: [String] = []

    init(_ transaction: Transaction, _ lists: [Playlist], _ tracks: [Track]) {
        self.transaction = transaction
        self.lists = lists
        self.tracks = tracks
        expected = lists.map(\.tracks)
        extras = lists.map(\.extras)
    }

    /// An operation on an array.
    private enum Operation {
        case replace(Int, Track)
        case swap(Int, Int)
        case append(Track)
        case insert(Track, Int)
        case remove(Int)
        case removeLast
        case removeSome(Int, Int)
        case reverse, sort
        case duplicate(Int)
        case assign([Track])
        case appendSome([Track])
        /// Another access to the array, through a further `inout`.
        indirect case nested([Operation])

        func apply(to array: inout [Track]) {
            let count = array.count
            switch self {
            case .replace(let index, let track): if count > 0 { array[index % count] = track }
            case .swap(let first, let second): if count > 0 { array.swapAt(first % count, second % count) }
            case .append(let track): array.append(track)
            case .insert(let track, let index): array.insert(track, at: index % (count + 1))
            case .remove(let index): if count > 0 { array.remove(at: index % count) }
            case .removeLast: _ = array.popLast()
            case .removeSome(let index, let length):
                let start = index % (count + 1)
                array.removeSubrange(start..<min(count, start + length))
            case .reverse: array.reverse()
            case .sort: array.sort { $0.title < $1.title }
            case .duplicate(let index): if count > 0 { array.append(array[index % count]) }
            case .assign(let tracks): array = tracks
            case .appendSome(let tracks): array += tracks
            case .nested(let operations): Self.apply(operations, &array)
            }
        }

        static func apply(_ operations: [Operation], _ array: inout [Track]) { for operation in operations { operation.apply(to: &array) } }
    }

    private func operation(_ numbers: inout SplitMix64, depth: Int = 0) -> Operation {
        func number() -> Int { Int.random(in: 0..<1000, using: &numbers) }
        func track() -> Track { tracks[number() % tracks.count] }
        switch Int.random(in: 0..<30, using: &numbers) {
        case 0...5: return .replace(number(), track())
        case 6...8: return .swap(number(), number())
        case 9...13: return .append(track())
        case 14...16: return .insert(track(), number())
        case 17...19: return .remove(number())
        case 20, 21: return .removeLast
        case 22: return .removeSome(number(), number() % 4)
        case 23: return number() % 4 == 0 ? .reverse : .append(track())
        case 24: return number() % 4 == 0 ? .sort : .removeLast
        case 25: return .duplicate(number())
        case 26: return .assign(Array(tracks.shuffled(using: &numbers).prefix(100)))
        case 27: return .appendSome((0..<number() % 4).map { _ in track() })
        default:
            if depth > 1 { return .append(track()) }
            return .nested((0..<2).map { _ in operation(&numbers, depth: depth + 1) })
        }
    }

    private static func unique(_ tracks: [Track]) -> [Track] {
        var seen: Set<Track> = []
        return tracks.filter { seen.insert($0).inserted }
    }

    /// Assigns to a list of the model.
    private mutating func assign(_ tracks: [Track], to index: Int) {
        expected[index] = Self.unique(tracks)
        let members = Set(tracks)
        for other in expected.indices where other != index { expected[other].removeAll { members.contains($0) } }
    }

    /// Makes one access with one to six operations, and reads something, or nothing, afterwards.
    mutating func step(_ numbers: inout SplitMix64) throws {
        let index = Int.random(in: 0..<lists.count, using: &numbers)
        if expected[0].count < 60 {
            let all = Array(tracks.shuffled(using: &numbers).prefix(100))
            lists[0].tracks = all
            assign(all, to: 0)
            lists[0].extras = all
            extras[0] = all
        }
        let isSingle = Int.random(in: 0..<3, using: &numbers) == 0
        let operations = (0..<(isSingle ? 1 : Int.random(in: 1...6, using: &numbers))).map { _ in operation(&numbers) }
        if Int.random(in: 0..<4, using: &numbers) == 0 {
            Operation.apply(operations, &lists[index].extras)
            Operation.apply(operations, &extras[index])
            extras[index] = Self.unique(extras[index])
        } else {
            let inner = Int.random(in: 0..<3, using: &numbers) == 0 ? (0..<3).map { _ in operation(&numbers) } : []
            let other = (index + 1) % lists.count
            access(&lists[index].tracks) { array in
                Operation.apply(operations, &array)
                // Another list is changed during the access; this one is written last.
                if !inner.isEmpty { Operation.apply(inner, &lists[other].tracks) }
            }
            var new = expected[index]
            Operation.apply(operations, &new)
            if !inner.isEmpty {
                var changed = expected[other]
                Operation.apply(inner, &changed)
                assign(changed, to: other)
            }
            assign(new, to: index)
        }
        try look(&numbers)
    }

    private func access(_ array: inout [Track], _ body: (inout [Track]) -> Void) { body(&array) }

    private mutating func expect(_ condition: Bool, _ problem: @autoclosure () -> String) { if !condition { problems.append(problem()) } }

    /// The first request after an access must see its changes.
    private mutating func look(_ numbers: inout SplitMix64) throws {
        let index = Int.random(in: 0..<lists.count, using: &numbers)
        let track = tracks[Int.random(in: 0..<tracks.count, using: &numbers)]
        switch Int.random(in: 0..<16, using: &numbers) {
        case 0, 1: checkEnds()
        case 2: checkLists()
        case 3: try checkFetches(index)
        case 4:
            track.playlist = lists[index]
            if !expected[index].contains(track) { assign(expected[index] + [track], to: index) }
        case 5:
            track.playlist = nil
            for other in expected.indices { expected[other].removeAll { $0 === track } }
        case 6:
            let owner = expected.firstIndex { $0.contains(track) }
            expect(try track.snapshot().playlist == owner.map { lists[$0].objectID }, "the snapshot of \(track.title)")
        case 7:
            guard let draft = transaction as? UnsafeTransaction else { return }
            draft.flush()
            checkEnds()
        case 8:
            guard let draft = transaction as? UnsafeTransaction else { return }
            draft.refresh()
            checkEnds()
        case 9:
            guard let draft = transaction as? UnsafeTransaction else { return }
            let titles = expected[index].map(\.title)
            let child = draft.beginUnsafe()
            let read = try child.fetchAll(From<Playlist>())[index].tracks.map(\.title)
            withExtendedLifetime(child) {}
            expect(titles == read, "a child transaction reads \(read) instead of \(titles)")
        default: break
        }
    }

    private mutating func checkEnds() {
        for track in tracks {
            let owner = expected.firstIndex { $0.contains(track) }
            expect(track.playlist === owner.map { lists[$0] }, "\(track.title) is in \(track.playlist?.title ?? "no list")")
        }
    }

    private mutating func checkLists() {
        for (index, list) in lists.enumerated() {
            expect(list.tracks == expected[index], "\(list.title) is \(list.tracks.map(\.title))")
            expect(list.extras == extras[index], "the extras of \(list.title) are \(list.extras.map(\.title))")
        }
    }

    private mutating func checkFetches(_ index: Int) throws {
        let found = try transaction.fetchAll(From<Track>().where(\.playlist == lists[index]))
        expect(Set(found) == Set(expected[index]), "\(found.map(\.title)) were fetched")
        let count = try transaction.fetchCount(From<Track>().where(\.playlist == lists[index]))
        expect(count == expected[index].count, "\(count) were counted")
        let title = tracks[index].title
        let owners = try transaction.fetchAll(From<Playlist>(), Where("ANY tracks.title == %@", title))
        let owner = expected.firstIndex { $0.contains(tracks[index]) }.map { lists[$0] }
        expect(owners == [owner].compactMap { $0 }, "\(title) was found in \(owners.count) lists")
        let extra = try transaction.fetchCount(From<Playlist>(), Where("ANY extras.title == %@", title))
        expect(extra == extras.count { $0.contains(tracks[index]) }, "\(title) was found in \(extra) lists of extras")
    }

    /// Checks everything.
    /// - Returns: The titles of all lists and extras.
    mutating func finish() throws -> [[String]] {
        checkEnds()
        checkLists()
        for index in lists.indices { try checkFetches(index) }
        return (expected + extras).map { $0.map(\.title) }
    }
}
