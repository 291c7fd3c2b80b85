import PolyStoreBackend

// The types of the storage contract that generated code names. Applications do not import the contract, so generated code finds them here.

/// Generated code uses this name for a record that is read. Use ``PolyStoreBackend/RecordView`` in your own code.
public typealias _RecordView = RecordView
/// Generated code uses this name for a record that is written. Use ``PolyStoreBackend/RecordBuilder`` in your own code.
public typealias _RecordBuilder = RecordBuilder
