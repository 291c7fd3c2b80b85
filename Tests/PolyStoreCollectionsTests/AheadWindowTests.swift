import PolyStoreCollections
import Testing

/// How many lists a loop over objects reads with one call.
@Suite struct AheadWindowTests {
    @Test func readsBecomeLargerUpToTheLimit() {
        var window = AheadWindow()
        #expect(window.lists(with: 1) == 1)
        #expect(window.lists(with: 1) == 1)  // The same object again is not a loop.
        var sizes: [Int] = []
        for object in 2...5 {
            let size = window.lists(with: Int64(object))
            window.didRead(lists: size, members: size)
            sizes.append(size)
        }
        #expect(sizes == [64, 1000, 1000, 1000])
    }

    /// The length of the first list, which was read alone, is all that is known of the others.
    @Test(arguments: [(nil, 64), (0, 64), (1, 1000), (2, 1000), (8, 250), (30, 66), (32, 64), (100_000, 64)] as [(Int?, Int)])
    func shortListsMakeTheFirstReadLarger(_ first: Int?, _ expected: Int) {
        var window = AheadWindow()
        #expect(window.lists(with: 7) { _ in first } == 1)
        var asked: [Int64] = []
        let size = window.lists(with: 8) {
            asked.append($0)
            return first
        }
        #expect(size == expected)
        #expect(asked == [7])
        window.didRead(lists: size, members: size)
        #expect(window.lists(with: 9) { _ in 1_000_000 } == 1000)
    }

    @Test func longListsMakeReadsSmaller() {
        var window = AheadWindow()
        _ = window.lists(with: 1)
        #expect(window.lists(with: 2) == 64)
        window.didRead(lists: 64, members: 64 * 1000)
        #expect(window.lists(with: 3) == 30)
        window.didRead(lists: 15, members: 15 * 50_000)
        #expect(window.lists(with: 4) == 1)
        // Lists without members say little about the others.
        window.didRead(lists: 8, members: 0)
        #expect(window.lists(with: 5) == 8)
    }

    @Test func longRecordsMakeReadsSmaller() {
        var window = AheadWindow()
        _ = window.lists(with: 1)
        #expect(window.lists(with: 2) == 64)
        window.didRead(lists: 64, members: 64, bytes: 64 << 16)
        #expect(window.lists(with: 3) == 96, "three quarters of 8 MiB")
        window.didRead(lists: 96, members: 96, bytes: 1 << 30)
        // Others follow, which may be shorter.
        for object in 4..<20 as Range<Int64> { #expect(window.lists(with: object) == 1) }
        #expect(window.lists(with: 20) == 2)
        window.didRead(lists: 2, members: 2, bytes: 200)
        #expect(window.lists(with: 21) == 32)
    }

    @Test func rowsAreLeftOutWhileTheContextHasMostMembers() {
        var window = AheadWindow()
        #expect(window.readsRows)
        window.didRead(lists: 64, members: 100, loaded: 51)
        #expect(!window.readsRows)
        window.didRead(lists: 64, members: 100, loaded: 50)
        #expect(window.readsRows)
    }

    @Test func rowsOfLongListsAreNotReadWithThem() {
        for (count, readsRows) in [(100, true), (625, true), (626, false), (.max, false)] {
            var window = AheadWindow()
            _ = window.lists(with: 1)
            #expect(window.lists(with: 2) { _ in count } == 64)
            #expect(window.readsRows == readsRows)
        }
    }

    @Test func rowIDsFollowTheFirstOne() {
        #expect(AheadWindow.following(5, in: [1, 9, 5, 7, -3], count: 4) == [5, 7, 9, -3])
        #expect(AheadWindow.following(6, in: [1, 9, 5, 7, .min, .max], count: 9) == [7, 9, .max, .min, 1, 5])
    }

    /// Whether others can be read with the first row says nothing about the next ones.
    @Test func theFirstReadOfRowsIsLimited() {
        for findsOthers in [true, false] {
            var window = AheadWindow()
            #expect(window.isAtFirst)
            #expect(window.rows(with: 1) == 256)
            #expect(window.isAtFirst)
            if findsOthers { window.didRead(lists: 256, members: 256) } else { window.didFindNone() }
            #expect(window.rows(with: 1) == 1)
            #expect(window.rows(with: 2) == (findsOthers ? 1000 : 64))
            #expect(!window.isAtFirst)
        }
    }

    /// Looking for other lists costs time in proportion to the loaded objects, so fruitless attempts become rare.
    @Test func fruitlessAttemptsBecomeRare() {
        var window = AheadWindow()
        var attempts: [Int64] = []
        for object in Int64(0)..<10_000 where window.lists(with: object) > 1 {
            attempts.append(object)
            window.didFindNone()
        }
        #expect(attempts.prefix(6) == [1, 3, 6, 11, 20, 37])
        #expect(attempts.count < 20)
        window.didRead(lists: 2, members: 2)
        #expect(window.lists(with: 20_000) == 1000)
    }
}
