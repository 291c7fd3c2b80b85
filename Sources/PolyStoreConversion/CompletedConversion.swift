import PolyStoreBackend

/// A conversion that was completed before it could report it: it was killed or failed between the last commit and the removal of the lock file.
struct CompletedConversion {
    private let source: ConversionSource
    private let target: StoreConfiguration
    private let logger: any StoreLogger
    private let progress: (ConversionProgress) throws -> Void

    init(
        _ source: ConversionSource, _ target: StoreConfiguration, _ logger: any StoreLogger,
        _ progress: @escaping (ConversionProgress) throws -> Void
    ) { (self.source, self.target, self.logger, self.progress) = (source, target, logger, progress) }

    /// Verifies that the complete store at the target has everything of the source, and ends the conversion.
    /// - Throws: `io` if it is another store, or one that no interrupted conversion has created.
    func report(_ destination: ConversionDestination, _ reader: any ReadTransaction, _ version: UInt64) throws -> ConversionReport {
        let found = try ConversionSource(target, logger)
        defer { found.close() }
        let written = try found.backend.beginRead()
        defer { written.end() }
        let (own, other) = (source.backend.metadata, found.backend.metadata)
        guard own.storeID == other.storeID, own.configurationName == other.configurationName, try written.version == version else {
            throw destination.taken()
        }
        guard destination.hasLockFileOfEarlierConversion else {
            _ = destination.taken()
            throw StoreError(
                .io,
                "\(target.location) exists already, and is complete: it has the version \(version) of the source, to which a conversion has completed it. Use it, or choose another target.",
                location: target.location)
        }
        let digests = (try digest(reader, source), try digest(written, found))
        guard digests.0 == digests.1 else { throw destination.taken() }
        try destination.finish()
        return ConversionReport(source: digests.0, target: digests.1, version: version, isResumed: true, configuration: target)
    }

    private func digest(_ reader: any ReadTransaction, _ store: ConversionSource) throws -> StoreDigest {
        let pass = try StorePass(reader, store.schema, store.backend.capabilities, activity: .verifying, progress: progress)
        try pass.run()
        return pass.digest
    }
}
