import PolyStoreBackend
import PolyStoreRuns

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
        var (backend, resumed): (any StorageBackend, ConversionState?)
        do { (backend, resumed) = try open(destination, version) } catch is ConversionDestination.Complete {
            return try CompletedConversion(source, target, logger, progress).report(destination, reader, version)
        }
        do {
            let digests = try copy(reader, to: &backend, destination, resumed, version)
            let configuration = target.isShared ? target : .keepingOpen(backend, as: target)
            if target.isShared { close(backend) }
            try destination.finish()
            return ConversionReport(
                source: digests.source, target: digests.target, version: version, isResumed: resumed != nil, configuration: configuration)
        } catch {
            try? backend.close()
            throw error
        }
    }

    /// Closes the target, whose last commit was durable.
    private func close(_ backend: any StorageBackend) {
        do { try backend.close() } catch {
            logger.write(.warning, "\(target.location) is complete, and was not closed as usual: \(error)")
        }
    }

    /// Opens or creates the store of the target.
    private func opened(_ destination: ConversionDestination) throws -> any StorageBackend {
        let metadata = source.backend.metadata
        return try destination.open(source.schema, metadata.configurationName, ConversionTarget(storeID: metadata.storeID))
    }

    /// Opens the incomplete target again.
    /// - Throws: `busy` if a conversion without a lock has completed or deleted it meanwhile.
    private func openedAgain(_ destination: ConversionDestination) throws -> any StorageBackend {
        guard try target.exists() else { throw ConversionTarget.busyError(target.location) }
        do { return try opened(destination) } catch is ConversionDestination.Complete { throw ConversionTarget.busyError(target.location) }
    }

    /// Opens the target.
    /// - Returns: The store, and the state of an interrupted conversion of the same version of the source.
    private func open(_ destination: ConversionDestination, _ version: UInt64) throws -> (any StorageBackend, ConversionState?) {
        func attempt() throws -> (any StorageBackend, ConversionState?) {
            let backend = try opened(destination)
            do {
                return (backend, try state(of: backend, version, destination.location))
            } catch {
                try? backend.close()
                throw refused(error, destination)
            }
        }
        do { return try attempt() } catch let error as StoreError where error.code == .conflict && startsOver {
            try destination.erase()
            return try attempt()
        }
    }

    /// Deletes the new target of a backend that cannot be one, and returns the error to throw.
    private func refused(_ error: any Error, _ destination: ConversionDestination) -> any Error {
        guard var refusal = error as? StoreError, refusal.code == .unsupported, !destination.withdraw() else { return error }
        refusal.message += " The store was created and could not be deleted: delete it by hand."
        return refusal
    }

    /// Returns the state of an interrupted conversion; nil for a new one, whose state is written then.
    /// - Throws: `conflict` for that of another source or version, and for any if the conversion is to start over.
    private func state(of backend: any StorageBackend, _ version: UInt64, _ location: String) throws -> ConversionState? {
        let writer = try backend.beginWrite()
        do {
            _ = try ConversionWriter.restoring(writer, location)
            let bytes = try writer.value(named: StoreContents.stateName)
            // A state that is thrown away need not be one that this release can read.
            let isOther = target.isShared && backend.metadata.storeID != source.backend.metadata.storeID
            if isOther || startsOver && bytes != nil { throw ConversionDestination.other(location) }
            let initial = ConversionState(source: source.backend.metadata.storeID, version: version)
            guard let state = try ConversionState(bytes, location: location) else {
                // Without a state a target looks like one that another conversion has completed.
                let changes = ChangeSet(source.schema, capacity: 64)
                try changes.setValue(initial.bytes, named: StoreContents.stateName)
                try writer.apply(changes)
                _ = try writer.commit(.relaxed, backOff: BackOff())
                return nil
            }
            guard state.source == initial.source, state.version == version else { throw ConversionDestination.other(location) }
            writer.rollback()
            return state
        } catch {
            writer.rollback()
            throw error
        }
    }

    private func copy(
        _ reader: any ReadTransaction, to backend: inout any StorageBackend, _ destination: ConversionDestination,
        _ resumed: ConversionState?, _ version: UInt64
    ) throws -> (source: StoreDigest, target: StoreDigest) {
        let capabilities = source.backend.capabilities
        let pass = try StorePass(reader, source.schema, capabilities, activity: .copying, progress: progress)
        let bounds = capabilities.has(.changeLog) ? try reader.logBounds() : LogBounds()
        let writer = ConversionWriter(
            backend, source.schema, ConversionState(source: source.backend.metadata.storeID, version: version), resumed: resumed,
            location: target.location, bounds: bounds, interruption: interruption, sum: { pass.sum })
        try pass.run(writer)
        try writer.finishBatches()
        if target.isShared {
            // The target is read through connections of its own, whose caches have nothing of what was written.
            try backend.close()
            backend = try openedAgain(destination)
            writer.backend = backend
        }
        let found = try verify(pass.digest, reader, backend, writer.written)
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
    /// - Parameter state: The state that the target has, unless another conversion writes to it.
    /// - Throws: `corrupt` for a difference.
    private func verify(
        _ expected: StoreDigest, _ reader: any ReadTransaction, _ backend: any StorageBackend, _ state: ConversionState
    ) throws -> StoreDigest {
        let written = try backend.beginRead()
        defer { written.end() }
        written.interruption = interruption
        let pass = try StorePass(written, source.schema, backend.capabilities, activity: .verifying, progress: progress)
        try pass.run()
        guard pass.digest == expected else {
            let found = try ConversionState(written.value(named: StoreContents.stateName), location: target.location)
            if found != state { throw ConversionTarget.busyError(target.location) }
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
