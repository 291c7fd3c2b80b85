/// A change of one object that a form requests.
package struct ObjectEdit: Sendable, Hashable {
    /// The action on the object.
    package enum Action: Sendable, Hashable {
        case update(ObjectReference)
        /// Creates an object of an entity or subentity.
        case create(String)
        /// Deletes an object, and others as its delete rules demand.
        case delete(ObjectReference)
    }

    package var action: Action
    /// The entries of the form; none for a deletion.
    package var input: FormInput
    /// ``ObjectForm/seen`` of the form. The change is refused if the object has other values; nil does not compare them.
    package var seen: String?
    /// ``ChangePreview/digest`` of the preview that was shown. A commit is refused if it would change anything else; nil commits without a comparison.
    package var confirmed: String?

    package init(_ action: Action, input: FormInput = FormInput(), seen: String? = nil, confirmed: String? = nil) {
        (self.action, self.input, self.seen, self.confirmed) = (action, input, seen, confirmed)
    }
}
