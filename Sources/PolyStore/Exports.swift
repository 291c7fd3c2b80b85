// What `import PolyStore` makes visible: the object layer, the readers and writers of records in JSON and CSV, the macros of this module, and those types of
// the storage contract that an application names. The rest of the contract is visible to backends, which import PolyStoreBackend.

@_exported import PolyStoreCore
@_exported import PolyStoreFormats

@_exported import struct PolyStoreBackend.AttributeDescription
@_exported import struct PolyStoreBackend.AttributeOption
@_exported import enum PolyStoreBackend.AttributeType
@_exported import struct PolyStoreBackend.Capabilities
@_exported import enum PolyStoreBackend.ComparisonOperator
@_exported import enum PolyStoreBackend.DeleteRule
@_exported import enum PolyStoreBackend.Durability
@_exported import struct PolyStoreBackend.EntityDescription
@_exported import struct PolyStoreBackend.EntityHierarchy
@_exported import struct PolyStoreBackend.IndexDescription
@_exported import struct PolyStoreBackend.LogKey
@_exported import enum PolyStoreBackend.LogLevel
@_exported import enum PolyStoreBackend.LogValue
@_exported import struct PolyStoreBackend.MaintenanceProgress
@_exported import struct PolyStoreBackend.ObjectConflict
@_exported import enum PolyStoreBackend.PropertyDescription
@_exported import struct PolyStoreBackend.QueryPlan
@_exported import struct PolyStoreBackend.ReadSessions
@_exported import struct PolyStoreBackend.RelationshipDescription
@_exported import struct PolyStoreBackend.SchemaDescription
@_exported import struct PolyStoreBackend.SearchIndexDescription
@_exported import struct PolyStoreBackend.SilentLogger
@_exported import struct PolyStoreBackend.SlowWriteThresholds
@_exported import struct PolyStoreBackend.SnapshotHolder
@_exported import struct PolyStoreBackend.SortKey
@_exported import struct PolyStoreBackend.StandardErrorLogger
@_exported import struct PolyStoreBackend.StoreConfiguration
@_exported import struct PolyStoreBackend.StoreEngine
@_exported import struct PolyStoreBackend.StoreEngines
@_exported import struct PolyStoreBackend.StoreError
@_exported import protocol PolyStoreBackend.StoreLogger
@_exported import struct PolyStoreBackend.StoreURL
@_exported import struct PolyStoreBackend.SubentityDescription
@_exported import struct PolyStoreBackend.TextOptions
@_exported import struct PolyStoreBackend.Violation
