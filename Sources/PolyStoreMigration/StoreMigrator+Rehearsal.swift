import Foundation
import PolyStoreBackend
import PolyStoreKernel

extension StoreMigrator {
    /// Performs every step without changing the store, and returns the data losses and the problems that prevent the migration.
    ///
    /// A single step is performed in the store and undone. Several steps are performed in a copy beside the store, which is deleted at the end: the objects that
    /// a later step reads exist only after the earlier ones.
    func rehearse() throws -> MigrationReport {
        try MigrationLocks.withLock(store) {
            let steps = try self.steps()
            var report = MigrationReport()
            guard steps.count > 1, let first = steps.first, let (copy, folder) = try copied(first) else {
                for (index, step) in steps.enumerated() {
                    try rehearse(step, index, steps.count, examines: index == 0, commits: false, &report)
                }
                return report
            }
            defer { copy.eraseCopy(folder) }
            for (index, step) in steps.enumerated() {
                try copy.rehearse(step, index, steps.count, examines: report.isPossible, commits: index + 1 < steps.count, &report)
            }
            return report
        }
    }

    /// Copies the store for a rehearsal.
    /// - Returns: The migrator of the copy, and its folder, which the next opening of the store removes if this process is terminated; `nil` if the backend
    ///   cannot copy its stores.
    /// - Throws: `full`, and errors of copying.
    private func copied(_ first: MigrationPath.Step) throws -> (StoreMigrator, TemporaryEntry?)? {
        let backend = try open(plan(first))
        defer { try? backend.close() }
        guard backend.capabilities.has(.copying), store.relocated(to: store.location) != nil else { return nil }
        var folder: TemporaryEntry?
        // Other locations than the path of a file or folder have no folder.
        if !store.files.isEmpty { folder = try TemporaryEntry(beside: StorePath(path: store.location), isFolder: true, mode: 0o700) }
        let copyPath = folder.map { "\($0.storePath.path)/copy" } ?? "\(store.location).rehearsal-\(UUID().uuidString)"
        guard let scratch = store.relocated(to: copyPath) else { return nil }
        monitor?.show("copying the store")
        // The copy, and what a step writes beside it.
        try StoreRoom.check(store, copies: 3, at: copyPath)
        var copy = StoreMigrator(
            store: scratch.durability(.relaxed), configurationName: configurationName, history: history, current: current, policy: policy,
            logger: logger)
        copy.monitor = monitor
        do { try backend.copy(to: copyPath) } catch {
            copy.eraseCopy(folder)
            throw error
        }
        return (copy, folder)
    }

    private func eraseCopy(_ folder: TemporaryEntry?) {
        do { try store.erase() } catch { logger.write(.error, "The copy \(location) of a rehearsal could not be deleted: \(error)") }
        folder?.remove()
    }

    /// - Parameters:
    ///   - examines: whether the store is in the version before the step.
    ///   - commits: whether the step is committed, for the next one; otherwise it is undone.
    private func rehearse(
        _ step: MigrationPath.Step, _ index: Int, _ count: Int, examines: Bool, commits: Bool, _ report: inout MigrationReport
    ) throws {
        let plan = try plan(step)
        monitor?.begin(step: index + 1, of: count, step.targetVersion)
        var done = MigrationReport.Step(type: plan.type, changes: plan.changes)
        var findings = plan.problems
        if examines {
            findings = try examine(step, plan, commits: commits, &done)
        } else {
            done.isRehearsed = false
        }
        for var finding in findings {
            finding.step = index
            report.findings.append(finding)
        }
        report.steps.append(done)
    }

    private func examine(
        _ step: MigrationPath.Step, _ plan: MigrationPlan, commits: Bool, _ done: inout MigrationReport.Step
    ) throws -> [MigrationReport.Finding] {
        let backend = try open(plan)
        defer { try? backend.close() }
        var findings = try check(backend, plan)
        guard !findings.contains(where: \.preventsMigration), commits || !plan.isCarriedWhole else { return findings }
        do {
            done.rewrittenObjects = try run(step, plan, backend) { if commits { try $0.commit() } else { $0.rollback() } }
        } catch let error as StoreError where [.constraint, .invalidValue].contains(error.code) {
            findings.append(
                MigrationReport.Finding(
                    .refused, error.entity ?? "", error.attribute, error.message, count: error.rowID == nil ? 0 : 1,
                    rowIDs: error.rowID.map { [$0] } ?? []))
        }
        return findings
    }

    private func check(_ backend: any StorageBackend, _ plan: MigrationPlan) throws -> [MigrationReport.Finding] {
        let reader = try backend.beginRead()
        defer { reader.end() }
        var check = MigrationCheck(plan, reader)
        try check.checkRefusals()
        try check.checkLosses()
        try monitor?.countRows(plan, reader)
        return check.findings
    }
}
