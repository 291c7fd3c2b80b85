// The object layer without macros: the kernel, and the modules on it.

@_exported import PolyStoreAdvice
@_exported import PolyStoreAttributes
@_exported import PolyStoreColumns
@_exported import PolyStoreConversion
@_exported import PolyStoreDynamic
@_exported import PolyStoreHistory
@_exported import PolyStoreKernel
@_exported import PolyStoreMigration
@_exported import PolyStoreObservation
@_exported import PolyStorePredicates
@_exported import PolyStoreRuns
@_exported import PolyStoreSearch
@_exported import PolyStoreSource
@_exported import PolyStoreTransfer
