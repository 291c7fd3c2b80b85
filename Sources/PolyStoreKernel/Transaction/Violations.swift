import PolyStoreBackend

// The caller knows no row id of an object that the transaction has created.
extension Model {
    /// The object in words, for errors: `object 7`, `a new object`.
    package var inWords: String { isInserted ? "a new object" : "object \(_$state.rowID)" }

    /// Returns the object with the name of its entity or class in words, for errors: `Person 7`, `a new Person`.
    func inWords(as name: String) -> String { isInserted ? "a new \(name)" : "\(name) \(_$state.rowID)" }
}
