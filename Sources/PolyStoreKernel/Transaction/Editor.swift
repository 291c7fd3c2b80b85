import PolyStoreBackend
import PolyStoreCollections

/// The objects of a context together with its change buffer, to change them and to read them including pending changes.
///
/// A context without a change buffer has no editor, so it cannot be changed.
struct Editor {
    let context: Context
    let buffer: ChangeBuffer

    /// Returns the editor's state of an object that is about to change.
    func startEditing(_ object: any Model) -> EditState {
        guard buffer.isOpen else { return rejectedEdit(of: object) }
        if let edit = object._$state.edit {
            if edit.isRecorded {
                willChange(object)
                buffer.imports?.willEdit(object)
                edit.isRecorded = false
                buffer.changes(of: Int(object._$state.entityIndex)).records?.willChange(edit)
            }
            return edit
        }
        willChange(object)
        buffer.imports?.willEdit(object)
        let edit = EditState(isInsert: false)
        object._$state.edit = edit
        buffer.changes(of: Int(object._$state.entityIndex)).updated.append(object)
        return edit
    }

    /// Logs the change, because a setter cannot throw; the commit throws for one of a validation method. The returned edit state is not attached to the object.
    private func rejectedEdit(of object: any Model) -> EditState {
        logLostChange(object)
        buffer.tracker?.didEditDuringCommit(object)
        return EditState(isInsert: false)
    }

    func logLostChange(_ object: any Model) {
        if let validation = buffer.validation { return validation.refuse(object) }
        if let error = buffer.immutability {
            let name = context.entry(object._$state.entityIndex).entity.name
            context.log(.error, "A change of \(object.inWords(as: name)) is lost: \(error.message)")
        }
    }

    /// Called before the first change or deletion of an object, and before the first one after recording was requested.
    func willChange(_ object: any Model) {
        buffer.history?.recordChange(object)
        buffer.tracker?.willChange(object, in: context)
    }

    /// Returns the pending changes of a to-many relationship.
    func pendingMembers(_ key: RelationshipKey) -> MemberChanges? {
        context.settleMembers()
        return buffer.relationshipChanges.changes(key)
    }
}
