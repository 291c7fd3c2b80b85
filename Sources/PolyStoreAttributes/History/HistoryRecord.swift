import Foundation
import PolyStoreBackend

/// The stored form of a history entry. `docs/format.md` specifies the bytes.
package struct HistoryRecord: Sendable, Equatable {
    package static let format: UInt8 = 1

    /// The part of an entry that is read to enforce the limits of a history.
    package struct Head: Sendable, Equatable {
        /// The version of the store before the commit.
        package var base: UInt64
        /// Microseconds since 1970.
        package var time: Int64
        /// The total size of all earlier entries, including removed ones, in bytes.
        package var bytesBefore: Int64
        /// A Boolean value that indicates whether the entry marks a commit without a transaction, which reserved row ids or deleted entries.
        package var isInternal = false
        package var author: String?

        package init(base: UInt64, time: Int64, bytesBefore: Int64, isInternal: Bool = false, author: String? = nil) {
            (self.base, self.time, self.bytesBefore) = (base, time, bytesBefore)
            (self.isInternal, self.author) = (isInternal, author)
        }
    }

    /// The kind of a change, as the byte that is stored.
    package enum Kind: UInt8, Sendable {
        case inserted, updated, deleted
    }

    /// Objects of one entity with the same change.
    package struct Group: Sendable, Equatable {
        package var entity: String
        package var kind: HistoryRecord.Kind
        /// The changed properties; for a deletion with previous values, those that have a value.
        package var keys: [String]
        package var ids: [Int64]
        /// The previous values, one for each key of each row id, row by row. `nil` for a to-many relationship; an empty array if none was recorded.
        package var values: [Value?] = []

        package init(entity: String, kind: HistoryRecord.Kind, keys: [String], ids: [Int64], values: [Value?] = []) {
            (self.entity, self.kind, self.keys, self.ids, self.values) = (entity, kind, keys, ids, values)
        }
    }

    package var head: Head
    package var groups: [Group] = []

    package init(head: Head, groups: [Group] = []) { (self.head, self.groups) = (head, groups) }
}

extension HistoryRecord {
    /// Returns a date in microseconds since 1970, the stored form.
    package static func time(_ date: Date) -> Int64 {
        let microseconds = date.timeIntervalSince1970 * 1_000_000
        return Int64(exactly: microseconds.rounded()) ?? (microseconds < 0 ? .min : .max)
    }

    package static func date(_ time: Int64) -> Date { Date(timeIntervalSince1970: Double(time) / 1_000_000) }

    package struct Flags: OptionSet {
        package let rawValue: UInt8
        package static let author = Flags(rawValue: 1)
        package static let isInternal = Flags(rawValue: 2)
        package static let all: Flags = [.author, .isInternal]

        package init(rawValue: UInt8) { self.rawValue = rawValue }
    }

    /// The tags of previous values.
    package enum Tag: UInt8 {
        case null, integer, real, text, blob, absent
    }

    package func encoded() -> [UInt8] {
        var bytes = HistoryBytes()
        bytes.append(Self.format)
        var flags: Flags = head.isInternal ? .isInternal : []
        if head.author != nil { flags.insert(.author) }
        bytes.append(flags.rawValue)
        bytes.append(number: head.base)
        bytes.append(signed: head.time)
        bytes.append(number: UInt64(bitPattern: head.bytesBefore))
        if let author = head.author { bytes.append(text: author) }
        var names = NameTable()
        let numbers = groups.map { group in (names.number(group.entity), group.keys.map { names.number($0) }) }
        bytes.append(number: UInt64(names.names.count))
        for name in names.names { bytes.append(text: name) }
        bytes.append(number: UInt64(groups.count))
        for (group, (entity, keys)) in zip(groups, numbers) {
            bytes.append(number: UInt64(entity))
            bytes.append(group.kind.rawValue | (group.values.isEmpty ? 0 : 0x80))
            bytes.append(number: UInt64(keys.count))
            for key in keys { bytes.append(number: UInt64(key)) }
            bytes.append(number: UInt64(group.ids.count))
            var last: Int64 = 0
            for id in group.ids {
                bytes.append(signed: id &- last)
                last = id
            }
            for value in group.values { bytes.append(value) }
        }
        return bytes.sealed()
    }

    /// The distinct names in an entry.
    private struct NameTable {
        private(set) var names: [String] = []
        private var numbers: [String: Int] = [:]

        mutating func number(_ name: String) -> Int {
            if let number = numbers[name] { return number }
            numbers[name] = names.count
            names.append(name)
            return names.count - 1
        }
    }
}
