import PolyStoreBackend
import PolyStoreQuery
import PolyStoreSearch
import PolyStoreSearchIndex
import TestSupport
import Testing

/// The indexes of a transaction whose pages cannot be written. A backend must learn that the indexes lack its changes.
@Suite struct SearchIndexSetTests {
    /// Pages that are never read, and whose writes fail.
    private final class RefusingPages: SearchPageWriter {
        private(set) var writes = 0

        func pages(atOrAfter keys: [[UInt8]]) -> [SearchPage?] { keys.map { _ in nil } }
        func pages(at keys: [[UInt8]]) -> [[UInt8]?] { keys.map { _ in nil } }
        func pages(from lower: [UInt8], below upper: [UInt8], limit: Int) -> [SearchPage] { [] }
        func remove(from lower: [UInt8], below upper: [UInt8]) {}
        func write(_ pages: [SearchPage], removing keys: [[UInt8]]) throws {
            writes += 1
            throw StoreError(.full, "The disk is full.")
        }
    }

    private struct Storage: SearchIndexStorage {
        let schema: ResolvedSchema
        let pages = RefusingPages()

        func state(of index: StoredSearchIndex) -> SearchIndexState { .complete }
        func pages(of index: StoredSearchIndex) -> any SearchPageReader { pages }
        func writablePages(of index: StoredSearchIndex) -> (any SearchPageWriter)? { pages }
    }

    @Test func flushAfterAFailedFlushFailsToo() throws {
        let note = EntityDescription(name: "Note", properties: [.attribute(AttributeDescription(name: "title", type: .string))])
        let storage = Storage(schema: try ResolvedSchema(SchemaDescription(name: "Notes", entities: [note])))
        let index = StoredSearchIndex(number: 1, entity: 0, fields: [0], options: SearchOptions())
        let set = SearchIndexSet([index], storage, location: "a test")
        try set.flush()
        try set.add([SearchTextChange(index: index, rowID: 1, old: nil, new: ["fox"])])
        #expect(failure { try set.flush() }?.code == .full)
        for _ in 0..<2 { #expect(failure { try set.flush() }?.code == .corrupt) }
        #expect(storage.pages.writes == 1)
    }
}
