// expected: sending 'draft' risks causing data races
import PolyStoreCore

actor Keeper {
    var draft: UnsafeTransaction?
    func keep(_ draft: UnsafeTransaction) { self.draft = draft }
}

func leak(_ stack: DataStack, _ keeper: Keeper) async throws {
    let draft = stack.beginUnsafe()
    await keeper.keep(draft)
    draft.rollback()
}
