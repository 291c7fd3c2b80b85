import PolyStoreBackend

/// The context of objects that outlive their unqueued transaction. They keep their values.
final class EndedContext: Context {
    /// - Parameters:
    ///   - maps: the identity maps of the ended context, which its objects reference.
    ///   - substitutes: its identity maps of substitutes for missing objects.
    init(core: StackCore, table: StoreTable, taking maps: [IdentityMap], _ substitutes: [Int32: IdentityMap], _ site: CallSite) {
        super.init(core: core, table: StoreTable(), site)
        self.table = table
        self.maps = maps
        self.substitutes = substitutes
    }

    override func refuseEditing(_ object: any Model) {
        let name = entry(object._$state.entityIndex).entity.name
        log(.error, "A change of \(object.inWords(as: name)) is lost: its transaction was released.")
    }
}
