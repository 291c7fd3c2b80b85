import PolyStoreBackend

/// The context of objects whose unsafe transaction has ended: they keep their values.
final class EndedContext: Context {
    /// - Parameters:
    ///   - maps: the ended context's, to which its objects refer.
    ///   - strays: likewise.
    init(core: StackCore, table: StoreTable, taking maps: [IdentityMap], _ strays: [Int32: IdentityMap]) {
        super.init(core: core, table: StoreTable())
        self.table = table
        self.maps = maps
        self.strays = strays
    }

    override func beginEditing(_ object: any Model) -> EditState {
        let name = entry(object._$state.slot).entity.name
        core.logger.write(.error, "A change of \(name) \(object._$state.key) is lost: its transaction was let go.")
        return EditState(isInsert: false)
    }
}
