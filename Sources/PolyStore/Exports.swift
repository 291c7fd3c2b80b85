// What a user's `import PolyStore` brings: the object layer, the contract's vocabulary, and the macros of this module.

@_exported import PolyStoreBackend
@_exported import PolyStoreCore
