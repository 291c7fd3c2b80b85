import PolyStoreBackend

/// One execution of a conversion.
struct ConversionWork {
    private let source: ConversionSource
    private let target: StoreConfiguration
    private let startsOver: Bool
    private let logger: any StoreLogger
    private let interruption: Interruption
    private let progress: (ConversionProgress) throws -> Void

    init(
        _ source: ConversionSource, _ target: StoreConfiguration, startsOver: Bool, _ logger: any StoreLogger,
        _ interruption: Interruption, _ progress: @escaping (ConversionProgress) throws -> Void
    ) {
        self.source = source
        self.target = target
        self.startsOver = startsOver
        self.logger = logger
        self.interruption = interruption
        self.progress = { now in
            try interruption.check()
            try progress(now)
        }
    }

    func execute() throws -> ConversionReport {
        let reader = try source.backend.beginRead()
        defer { reader.end() }
        reader.interruption = interruption
        let version = try reader.version
        let destination = try ConversionDestination(target, logger)
        let (backend, resumed) = try open(destination, version)
        do {
            let digests = try copy(reader, to: backend, resumed, version)
            let configuration = target.isShared ? target : .keepingOpen(backend, as: target)
            if target.isShared { try backend.close() }
            try destination.finish()
            return ConversionReport(
                source: digests.source, target: digests.target, version: version, isResumed: resumed != nil, configuration: configuration)
        } catch {
            try? backend.close()
            throw error
        }
    }

    /// Opens the target.
    /// - Returns: The store, and the state of an interrupted conversion of the same version of the source.
    private func open(_ destination: ConversionDestination, _ version: UInt64) throws -> (any StorageBackend, ConversionState?) {
        let metadata = source.backend.metadata
        func attempt() throws -> (any StorageBackend, ConversionState?) {
            let backend = try destination.open(
                source.schema, metadata.configurationName, ConversionTarget(storeID: metadata.storeID))
            do {
                return (backend, try state(of: backend, version, destination.location))
            } catch {
                try? backend.close()
                throw error
            }
        }
        do { return try attempt() } catch let error as StoreError where error.code == .conflict && startsOver {
            try destination.erase()
            return try attempt()
        }
    }

    /// Returns the state of an interrupted conversion.
    /// - Throws: `conflict` for that of another source or version, and for any if the conversion is to start over.
    private func state(of backend: any StorageBackend, _ version: UInt64, _ location: String) throws -> ConversionState? {
        let writer = try backend.beginWrite()
        defer { writer.rollback() }
        _ = try ConversionWriter.restoring(writer, location)
        let state = try ConversionState(writer.value(named: StoreContents.stateName), location: location)
        guard let state else {
            guard backend.metadata.storeID == source.backend.metadata.storeID || !target.isShared else {
                throw ConversionDestination.other(location)
            }
            return nil
        }
        guard state.source == source.backend.metadata.storeID, state.version == version, !startsOver else {
            throw ConversionDestination.other(location)
        }
        return state
    }

    private func copy(
        _ reader: any ReadTransaction, to backend: any StorageBackend, _ resumed: ConversionState?, _ version: UInt64
    ) throws -> (source: StoreDigest, target: StoreDigest) {
        let capabilities = source.backend.capabilities
        let pass = try StorePass(reader, source.schema, capabilities, activity: .copying, progress: progress)
        let bounds = capabilities.has(.changeLog) ? try reader.logBounds() : LogBounds()
        let writer = ConversionWriter(
            backend, source.schema, ConversionState(source: source.backend.metadata.storeID, version: version), resumed: resumed,
            location: target.location, bounds: bounds, interruption: interruption, sum: { pass.sum })
        try pass.run(writer)
        try writer.finishBatches()
        let found = try verify(pass.digest, reader, backend)
        try writer.complete(
            nextRowIDs: try nextRowIDs(reader, writer), bounds: bounds, configurationName: source.backend.metadata.configurationName)
        return (pass.digest, found)
    }

    /// Returns the first row id of each entity that was never reserved. A source that does not show it continues after its greatest row id.
    private func nextRowIDs(_ reader: any ReadTransaction, _ writer: ConversionWriter) throws -> [Int64] {
        try source.schema.entities.map { entity in
            if let sequences = reader as? any RowIDSequences { return try sequences.nextRowID(entity) }
            let (next, isTooLarge) = (writer.lastRowIDs[entity.index] ?? 0).addingReportingOverflow(1)
            return isTooLarge ? .max : max(1, next)
        }
    }

    /// Reads the target again and compares it with what was copied.
    private func verify(
        _ expected: StoreDigest, _ reader: any ReadTransaction, _ backend: any StorageBackend
    ) throws -> StoreDigest {
        let written = try backend.beginRead()
        defer { written.end() }
        written.interruption = interruption
        let pass = try StorePass(written, source.schema, backend.capabilities, activity: .verifying, progress: progress)
        try pass.run()
        guard pass.digest == expected else {
            throw try ContentDifference(source.schema, target.location).error(expected, pass.digest, reader, written)
        }
        return pass.digest
    }
}

extension StoreConfiguration {
    /// Returns a configuration that opens a store in memory by handing out the open one.
    fileprivate static func keepingOpen(_ backend: any StorageBackend, as target: StoreConfiguration) -> StoreConfiguration {
        StoreConfiguration(engine: target.engine, location: target.location, isShared: false) { request in
            try backend.metadata.check(
                request, supportedFormat: backend.metadata.format, location: target.location, acceptsOtherIndexes: false)
            return backend
        }
    }
}
