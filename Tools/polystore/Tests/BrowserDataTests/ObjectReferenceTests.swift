import BrowserData
import Testing

@Suite struct ObjectReferenceTests {
    @Test func referencesAreEqualByEntityAndRowID() {
        let reference = ObjectReference(entity: "City", rowID: 7)
        #expect(reference == ObjectReference(entity: "City", rowID: 7))
        #expect(reference != ObjectReference(entity: "City", rowID: 8))
        #expect(reference != ObjectReference(entity: "Town", rowID: 7))
    }
}
