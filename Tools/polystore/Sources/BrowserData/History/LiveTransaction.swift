/// A transaction that is committed while pages are open.
package struct LiveTransaction: Sendable {
    /// A changed object.
    package struct Object: Sendable, Hashable {
        package let kind: ChangePreview.Kind
        package let reference: ObjectReference
    }

    /// The greatest number of ``objects``.
    package static let objectLimit = 10_000

    /// The changed objects, without those beyond the limit.
    package let objects: [Object]
    /// The number of all changed objects.
    package let changeCount: Int
    /// The transaction as the page of the history shows it, with the changes that the page selects; nil if it selects none.
    package let selected: HistoryPage.Transaction?
}
