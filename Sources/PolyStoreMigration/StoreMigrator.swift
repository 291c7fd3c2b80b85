import Foundation
import PolyStoreBackend
import PolyStoreKernel

/// The migration of one store to the current version of a stack's schema.
struct StoreMigrator {
    let store: StoreConfiguration
    let configurationName: String?
    let history: SchemaHistory
    let current: Schema
    let policy: MigrationPolicy
    let logger: any StoreLogger
    /// The receiver of the progress; throws to end the migration.
    var monitor: MigrationMonitor?

    var location: String { store.location }
    private var path: MigrationPath { MigrationPath(history, current: current, configuration: configurationName, location: location) }

    // MARK: Looking

    /// Returns the schema that the store was written for; `nil` if the store does not exist or needs no migration.
    func storedSchema() throws -> SchemaDescription? {
        if store.location.hasPrefix("/"), !FileManager.default.fileExists(atPath: store.location) { return nil }
        let target = try ResolvedSchema(current.description(ofConfiguration: configurationName))
        do {
            var store = store
            let kept = try store.keptSchema(ofConfiguration: .some(configurationName), logger: logger).schema
            return kept.hasSameData(as: target.description) ? nil : kept
        } catch let error as StoreError where Self.isCuredByWriting(error.code) && !store.isReadOnly {
            // The engine cannot open a store read-only, or an empty file becomes a store.
        }
        do {
            try looking(target) { _ in }
            return nil
        } catch let error as StoreError where error.code == .migrationRequired && error.storedSchema != nil {
            return error.storedSchema
        }
    }

    private static func isCuredByWriting(_ code: StoreError.Code) -> Bool { [.unsupported, .notAStore, .io, .readOnly].contains(code) }

    /// Opens the store without changing it, and calls a closure with the backend.
    private func looking<Result>(_ schema: ResolvedSchema, _ body: (any StorageBackend) throws -> Result) throws -> Result {
        var configuration = store
        configuration.isReadOnly = true
        configuration.resetsOnModelMismatch = false
        func open() throws -> any StorageBackend {
            try configuration.open(schema: schema, configurationName: configurationName, logger: logger, keepsInterruptedMigration: true)
        }
        let backend: any StorageBackend
        do { backend = try open() } catch let error as StoreError
            where Self.isCuredByWriting(error.code) && !store.isReadOnly
        {
            // Some engines cannot open a store read-only, and an empty file becomes a store.
            configuration.isReadOnly = false
            backend = try open()
        }
        let result = Swift.Result { try body(backend) }
        try backend.close()
        return try result.get()
    }

    /// Returns the steps from the store's version to the current one.
    func steps() throws -> [MigrationPath.Step] {
        var attempts = 0
        while true {
            guard let stored = try storedSchema() else { return try replacement().map { [$0] } ?? [] }
            do {
                let versions = try looking(try ResolvedSchema(stored)) { backend in
                    let reader = try backend.beginRead()
                    defer { reader.end() }
                    return try storedVersions(reader, stored, backend.capabilities)
                }
                return try path.steps(from: stored, versions, policy)
            } catch let error as StoreError where error.code == .migrationRequired && attempts < 3 {
                // Another process has migrated the store in between.
                attempts += 1
            }
        }
    }

    /// Returns the step that replaces the schema of a store that needs no migration; `nil` if the policy does not ask for it, or if the store has every declaration.
    private func replacement() throws -> MigrationPath.Step? {
        guard policy.replacesDeclarations, !store.isReadOnly, try store.exists() else { return nil }
        var store = store
        let kept = try store.keptSchema(ofConfiguration: .some(configurationName), logger: logger).schema
        let target = try current.description(ofConfiguration: configurationName)
        guard kept.hasSameData(as: target), kept.declarations != target.declarations else { return nil }
        if let reason = try reasonAgainstReplacing(kept) {
            logger.write(.notice, "The stored schema of \(location), \"\(kept.name)\", is not replaced with \"\(current.name)\": \(reason)")
            return nil
        }
        return MigrationPath.Step(sourceVersion: kept.name, targetVersion: current.name, source: kept, target: target, mapping: nil)
    }

    /// Returns why the declarations of a stored schema of the same data cannot be replaced; `nil` if they can.
    private func reasonAgainstReplacing(_ kept: SchemaDescription) throws -> String? {
        guard kept.name == current.name || policy.allowsDowngrade || history.version(named: kept.name) != nil else {
            return
                "the schema history of this application does not list \"\(kept.name)\", which can be a later version. Add it to the history, or allow a downgrade."
        }
        let canMigrate = try looking(ResolvedSchema(kept)) { $0.capabilities.has(.migration) }
        return canMigrate ? nil : "the backend cannot migrate its stores."
    }

    // MARK: Versions

    /// Returns the versions of the store; only that of its schema if the backend keeps no list of them.
    private func storedVersions(
        _ reader: any ReadTransaction, _ schema: SchemaDescription, _ capabilities: Capabilities
    ) throws -> StoreVersions {
        guard StoreVersions.isKept(by: capabilities) else { return try StoreVersions(nil, schema, location: location) }
        return try StoreVersions(reader, schema, location: location)
    }

    /// Writes the versions of the store in the transaction that migrates it.
    private func record(_ step: MigrationPath.Step, _ migration: any StoreMigration, _ plan: MigrationPlan, _ capabilities: Capabilities)
        throws
    {
        guard StoreVersions.isKept(by: capabilities) else { return }
        var versions = try StoreVersions(migration.source, step.source, location: location)
        versions.reach(step.target, from: step.source, isLater: step.order == .declaredLater)
        if step.targetVersion == current.name {
            let known = try history.ordered(configuration: configurationName)
            if let last = known.last { versions.place(known.dropLast(), before: last) }
        }
        try versions.write(migration.target, plan.target)
    }

    // MARK: Migrating

    /// Performs every step.
    func migrate() throws -> MigrationReport {
        try MigrationLocks.withLock(store) {
            var report = MigrationReport()
            var attempts = 0
            while true {
                // The steps are determined again for each iteration because another process may have performed one meanwhile.
                let steps = try self.steps()
                guard let step = steps.first else { return report }
                monitor?.begin(step: report.steps.count + 1, of: report.steps.count + steps.count, step.targetVersion)
                do {
                    try perform(step, &report)
                    if steps.count == 1 { return report }
                } catch let error as StoreError where error.code == .differentStoreAtURL && attempts < 3 {
                    attempts += 1
                    logger.write(.notice, "\(location) was migrated by another process: \(error.message)")
                }
            }
        }
    }

    func plan(_ step: MigrationPath.Step, rewriting rewritten: CarriedChange = CarriedChange()) throws -> MigrationPlan {
        let planner = try MigrationPlanner(
            try ResolvedSchema(step.source), try ResolvedSchema(step.target), step.mapping, isDowngrade: step.order == .downgrade,
            rewriting: rewritten)
        return try planner.plan(from: step.sourceVersion, to: step.targetVersion, losesLinks: policy.losesLinks)
    }

    func open(_ plan: MigrationPlan) throws -> any StorageBackend {
        var configuration = store
        configuration.resetsOnModelMismatch = false
        let backend = try configuration.open(
            schema: plan.source, configurationName: configurationName, logger: logger, keepsInterruptedMigration: true)
        guard backend.capabilities.has(.migration) else {
            try? backend.close()
            throw StoreError(
                .unsupported,
                "The backend of \(location) cannot migrate its stores. Export the objects with the old version of the application.",
                location: location)
        }
        return backend
    }

    private func perform(_ step: MigrationPath.Step, _ report: inout MigrationReport) throws {
        let plan = try plan(step)
        logger.write(.notice, "Migrating \(location), \(plan.type): \(plan.changes.joined(separator: "; ")).")
        let backend = try open(plan)
        defer { try? backend.close() }
        var losses = try check(plan, backend)
        let copy = report.steps.isEmpty ? policy.copyLocation : nil
        if let copy {
            monitor?.show("copying the store")
            try monitor?.checkCancellation()
            try StoreRoom.check(store, copies: 1, at: copy)
            try backend.copy(to: copy)
        }
        var done = MigrationReport.Step(type: plan.type, changes: plan.changes)
        do {
            if !plan.isCarriedWhole { try StoreRoom.check(store, copies: 2, at: store.location) }
            done.rewrittenObjects = try run(step, plan, backend) { try $0.commit() }
        } catch {
            // The next attempt writes its own copy to the path.
            if let copy { erase(copy: copy) }
            throw error
        }
        report.copy = copy ?? report.copy
        logger.write(.notice, "Migrated \(location) to \"\(step.targetVersion)\"; \(done.rewrittenObjects) objects were rewritten.")
        for index in losses.indices { losses[index].step = report.steps.count }
        report.findings += losses
        report.steps.append(done)
    }

    /// Deletes the copy of a store whose migration did not happen.
    private func erase(copy path: String) {
        do {
            if let copy = store.relocated(to: path) { try copy.erase() } else { try StorePath(path: path).remove() }
        } catch {
            logger.write(
                .error,
                "The copy \(path) of the store \(location), which was not migrated, could not be deleted. Delete it by hand. \(error)")
        }
    }

    /// Rejects an impossible migration before anything changes.
    /// - Returns: What the migration loses.
    private func check(_ plan: MigrationPlan, _ backend: any StorageBackend) throws -> [MigrationReport.Finding] {
        monitor?.show("checking")
        let reader = try backend.beginRead()
        defer { reader.end() }
        var check = MigrationCheck(plan, reader)
        try check.checkRefusals()
        if let finding = check.findings.first(where: \.preventsMigration) { throw finding.error(location: location) }
        try check.checkLosses()
        try monitor?.countRows(plan, reader)
        for loss in check.findings { logger.write(.notice, "Migrating \(location) loses data of \(loss.count) objects: \(loss.message)") }
        return check.findings
    }

    /// Runs a step and calls `end` in place of its commit.
    ///
    /// If the mapping changes entities or links that the backend carries over, the step begins again and rewrites them.
    /// - Returns: The number of objects that were rewritten.
    func run(
        _ step: MigrationPath.Step, _ plan: MigrationPlan, _ backend: any StorageBackend, _ end: (any StoreMigration) throws -> Void
    ) throws -> Int {
        var plan = plan
        var rewritten = CarriedChange()
        while true {
            do { return try attempt(step, plan, backend, end) } catch let change as CarriedChange {
                rewritten = rewritten.union(change)
                plan = try self.plan(step, rewriting: rewritten)
                let names =
                    rewritten.entities.sorted().map { plan.target.entities[$0].name }
                    + rewritten.tables.sorted().map { plan.target.links[$0].name }
                logger.write(.info, "The mapping changes \(names.joined(separator: ", ")), so the migration of \(location) rewrites them.")
                if let monitor {
                    let reader = try backend.beginRead()
                    defer { reader.end() }
                    try monitor.beginAgain(plan, reader)
                }
            }
        }
    }

    private func attempt(
        _ step: MigrationPath.Step, _ plan: MigrationPlan, _ backend: any StorageBackend, _ end: (any StoreMigration) throws -> Void
    ) throws -> Int {
        let migration = try backend.beginMigration(plan.change)
        do {
            let work = try MappingWork(plan, migration) { count, activity in try monitor?.didRead(count, activity) }
            let resumed = try work.resumedObjects()
            if resumed > 0 { monitor?.didResume(resumed) }
            try work.run()
            monitor?.show("building indexes")
            try monitor?.checkCancellation()
            try record(step, migration, plan, backend.capabilities)
            try end(migration)
            return work.rewrittenObjects
        } catch {
            migration.rollback()
            throw error
        }
    }
}
