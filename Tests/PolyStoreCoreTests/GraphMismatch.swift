/// A difference between the framework and the model.
struct GraphMismatch: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
