import PolyStoreBackend

/// The run of the validation methods of a transaction. Each checks one object of the changes that are written, so a change that it made would not be
/// validated, and would depend on the order of the calls. The transaction refuses such changes and reports them here.
final class ValidationRun {
    /// A validation method of a model.
    enum Method: String {
        case validate, validateForDelete
    }

    // Retaining each object would cost two atomic operations per call. The transaction retains the objects that it validates.
    private unowned(unsafe) var object: (any Model)?
    private var method = Method.validate
    private var refusals: [Refusal] = []

    /// A change that a validation method attempted.
    private struct Refusal: Equatable {
        let validator: (entity: String, rowID: Int64)
        let sentence: String

        static func == (left: Refusal, right: Refusal) -> Bool { left.sentence == right.sentence }
    }

    /// Validates an object.
    func run(_ method: Method, of object: any Model) throws {
        (self.object, self.method) = (object, method)
        defer { self.object = nil }
        switch method {
        case .validate: try object.validate()
        case .validateForDelete: try object.validateForDelete()
        }
    }

    /// Records that the running method attempted to change an object, or to create, delete or import some.
    /// - Parameter changed: The object; `nil` if the change is not one of an existing object.
    func refuse(_ changed: (any Model)?) {
        guard let object else { return }
        let validator = (entity: Swift.type(of: object)._$entityName, rowID: object._$state.rowID)
        let target =
            switch changed {
            case nil: "the transaction"
            case let changed? where changed === object: "the object itself"
            case let changed?: changed.inWords(as: Swift.type(of: changed)._$entityName)
            }
        let refusal = Refusal(
            validator: validator, sentence: "\(method.rawValue)() of \(object.inWords(as: validator.entity)) changed \(target)")
        if !refusals.contains(refusal), refusals.count < Self.limit { refusals.append(refusal) }
    }

    private static let limit = 20

    /// The error that names the validated and the changed objects; nil if no method attempted a change.
    var error: StoreError? {
        guard let first = refusals.first else { return nil }
        return StoreError(
            .misuse,
            "\(refusals.map(\.sentence).joined(separator: "; ")). A validation method must not change anything: make the change before the transaction commits.",
            entity: first.validator.entity, rowID: first.validator.rowID)
    }
}
