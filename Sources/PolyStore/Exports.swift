// The modules re-exported by `import PolyStore`: the object layer, the backend protocols and types, records in JSON and CSV, and the macros of this module.

@_exported import PolyStoreBackend
@_exported import PolyStoreCore
@_exported import PolyStoreFormats
