/// Decides how many lists are read with one call while a loop reads the list of one object after another.
///
/// The first list is read alone. The second is read with some others, with many if the first was short, and later reads are larger: a loop over 1,000 objects sends
/// few calls, and one that ends early reads little. The mean length of the lists of a read limits the next one. After empty lists the size grows slowly, because they do not
/// predict the length of others. If no other list could be read, the next attempts are left out, because a search for lists takes time in proportion to the number
/// of loaded objects.
package struct AheadWindow {
    /// The largest number of lists of a read.
    package static let mostLists = 1000
    /// About the largest number of members of a read.
    package static let mostMembers = 40_000
    /// About the largest size of the records that are read with their lists.
    package static let mostBytes = 8 << 20

    /// The largest number of row ids that are kept of a fetch.
    private static let mostFetched = 100_000

    /// Returns the row ids that are kept of a fetch, in storage of their own.
    package static func kept(_ rowIDs: [Int64]) -> ArraySlice<Int64> {
        rowIDs.count <= mostFetched ? rowIDs[...] : Array(rowIDs.prefix(mostFetched))[...]
    }

    /// The smallest number of lists of the first read of several.
    private static let firstLists = 64
    /// About the largest number of members of the first read of several, if it has more lists than that.
    private static let firstMembers = 2000

    /// The number of lists that are read alone after long ones.
    private static let longPause = 16

    /// The largest number of rows that are read with the first one.
    private static let firstRows = 256

    /// A Boolean value that indicates whether the rows of the members are read with their lists: not if the context already had most of the last ones, or if there
    /// are probably too many.
    package private(set) var readsRows = true
    private var last: Int64?
    /// The number of lists of the next read; 0 before the first.
    private var size = 0
    private var pause = 0
    private var skipped = 0

    package init() {}

    /// Returns the number of lists to read with that of an object; 1 if it is read alone.
    /// - Parameter members: Returns the number of members of an object whose list is read; nil if it is unknown.
    package mutating func lists(with object: Int64, members: (Int64) -> Int? = { _ in nil }) -> Int {
        defer { last = object }
        guard let last, last != object else { return 1 }
        guard skipped == pause else {
            skipped += 1
            return 1
        }
        if size == 0 {
            let count = members(last) ?? 0
            size = min(max(count > 0 ? Self.firstMembers / count : 0, Self.firstLists), Self.mostLists)
            readsRows = count <= Self.mostMembers / size
        }
        return size
    }

    /// Returns the number of rows to read with that of an object.
    ///
    /// The first read also includes others, as far as loaded objects refer to them: a program that follows a to-one relationship of one of the objects that it has fetched usually follows it of all.
    package mutating func rows(with object: Int64) -> Int {
        guard last == nil else { return lists(with: object) }
        last = object
        return Self.firstRows
    }

    /// A Boolean value that indicates whether no object was read after the first one.
    package var isAtFirst: Bool { size == 0 }

    /// Returns some row ids: a given one if it is among them, then those that follow it, from the least one again after the greatest.
    package static func following(_ first: Int64, in rowIDs: some Sequence<Int64>, count: Int) -> [Int64] {
        Array(rowIDs.sorted { UInt64(bitPattern: $0 &- first) < UInt64(bitPattern: $1 &- first) }.prefix(count))
    }

    /// Called after a read of several lists.
    /// - Parameters:
    ///   - loaded: The number of members that the context has loaded.
    ///   - bytes: The size of the records that were read with the lists.
    package mutating func didRead(lists: Int, members: Int, loaded: Int = 0, bytes: Int = 0) {
        readsRows = 2 * loaded <= members
        (pause, skipped) = (0, 0)
        // A part, because the rows of more members than that are not read with the lists.
        let longest = min(Self.mostMembers * 3 / 4 * lists / max(members, 1), Self.mostBytes * 3 / 4 * lists / max(bytes, 1))
        size = min((isAtFirst ? Self.firstLists : size) * (members == 0 ? 4 : 16), Self.mostLists, longest)
        guard size < 2 else { return }
        // The next lists may be shorter.
        (size, pause) = (2, Self.longPause)
    }

    /// Called after a search that found no other list to read. For the first object, this does not predict the results for the next ones.
    package mutating func didFindNone() { if !isAtFirst { (pause, skipped) = (min(max(1, pause * 2), 1024), 0) } }
}
