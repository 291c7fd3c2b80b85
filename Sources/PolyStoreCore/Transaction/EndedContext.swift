import PolyStoreBackend

/// Where objects are whose transaction has gone: they keep their values.
final class EndedContext: Context {
    override func beginEditing(_ object: any Model) -> EditState {
        let name = entry(object._$state.slot).entity.name
        log(.error, "A change of \(name) \(object._$state.key) is lost: its transaction was let go.")
        return object._$state.edit ?? EditState(isInsert: false)
    }
}
