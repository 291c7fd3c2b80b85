// What a user's `import PolyStore` brings: the object layer, the contract's vocabulary, records in JSON and CSV, and the macros of this module.

@_exported import PolyStoreBackend
@_exported import PolyStoreCore
@_exported import PolyStoreFormats
