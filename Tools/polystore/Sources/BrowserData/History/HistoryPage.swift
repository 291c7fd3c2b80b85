import Foundation
import PolyStoreCore

/// The transactions to show of the history.
package struct HistoryRequest: Sendable, Hashable {
    /// Only changes of one entity and its subentities; nil for all.
    package var entity: String?
    /// Only changes of one object; nil for all.
    package var object: ObjectReference?
    /// Only transactions of one author; nil for all. The empty text selects those without an author.
    package var author: String?
    /// The position that the page ends before, from ``HistoryPage/older``; nil for the newest transactions.
    package var before: Int64?
    /// The greatest number of transactions, from 1 to ``HistoryRequest/greatestSize``.
    package var size = 50

    package init() {}

    package static let greatestSize = 500
}

/// Transactions of the history, newest first.
package struct HistoryPage: Sendable {
    /// The greatest number of changes of one transaction that a page describes; its counts have all of them.
    package static let changeLimit = 100

    /// The change of one object.
    package struct Change: Sendable, Hashable {
        package let kind: ChangePreview.Kind
        /// The object, with the name that it has now; without one if it does not exist any more.
        package let object: NamedObject
        /// The changed properties of an update, in order.
        package let properties: [String]
        /// The previous values, if the history records them: those of the changed properties, or all of a deleted object. Null values have no entry.
        package let previous: [String: BrowserValue]
    }

    /// One transaction.
    package struct Transaction: Sendable {
        /// The position in the history, which grows by each transaction.
        package let position: Int64
        /// The version of the store after the commit.
        package let version: UInt64
        /// The time of the commit, by the clock of the process that committed it.
        package let date: Date
        package let author: String?
        /// The numbers of changed objects, by kind and entity.
        package let counts: [ChangePreview.Count]
        /// The first changes.
        package let changes: [Change]
        /// The number of all changes.
        package let changeCount: Int
    }

    package let transactions: [Transaction]
    /// The position for the page of older transactions; nil if there are none.
    package let older: Int64?
    /// The point from which ``BrowserStore/liveChanges(since:)`` continues, for the page with the newest transactions.
    package let token: String
    /// A Boolean value that indicates whether the store has recorded transactions that were not removed.
    package let hasHistory: Bool
}
