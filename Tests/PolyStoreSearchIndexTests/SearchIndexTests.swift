import PolyStoreSearch
import PolyStoreSearchIndex
import Testing

@Suite struct SearchIndexTests {
    @Test func costsBeginAtZero() { #expect(SearchCosts().scored == 0) }
}
