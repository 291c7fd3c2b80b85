public import PolyStoreBackend

/// The result of a conversion.
public struct ConversionReport: Sendable {
    /// The digest of the source, of the snapshot that was copied.
    public let source: StoreDigest
    /// The digest of the target, which was read again. Equal to that of the source.
    public let target: StoreDigest
    /// The version of both stores.
    public let version: UInt64
    /// A Boolean value that indicates whether the conversion continued an interrupted one.
    public let isResumed: Bool
    /// The configuration of the target. For a store in memory it contains the open store, so pass this one to `addStore`.
    public let configuration: StoreConfiguration

    /// The number of objects.
    public var objectCount: Int { target.objectCount }
    /// The number of pairs of link tables.
    public var linkCount: Int { target.linkCount }
    /// The size of the contents in bytes; see ``StoreDigest/byteCount``.
    public var byteCount: Int { target.byteCount }
}

extension ConversionReport: CustomStringConvertible {
    /// `12000 objects of 3 entities, 400 links, 3 entries of the history, 0 named values, 1200000 bytes; digest 0123…`.
    public var description: String {
        "\(objectCount) objects of \(target.entities.count) entities, \(linkCount) links, \(target.history.count) entries of the history, "
            + "\(target.namedValues.count) named values, \(byteCount) bytes; digest \(target)"
    }
}
