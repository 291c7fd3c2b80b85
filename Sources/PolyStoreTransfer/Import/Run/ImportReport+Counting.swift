import PolyStoreKernel

extension ImportReport {
    /// Adopts the counts and the problems of the earlier run that this one resumes.
    mutating func continueFrom(_ position: ImportPosition, _ earlier: [ImportProblem], _ options: ImportOptions) {
        problems = Array(earlier.prefix(options.exampleLimit))
        inserted = position.inserted
        updated = position.updated
        skipped = position.skipped
        excluded = position.refused
        records = position.mark.recordPosition.record
        bytes = position.mark.recordPosition.end
        batches = position.batches
        resumedFrom = position.mark.recordPosition.record
    }

    /// Returns the problems of a batch that the report will contain.
    func newProblems<Source>(of batch: ImportBatch<Source>, _ options: ImportOptions) -> some Sequence<ImportProblem> {
        batch.problemsInOrder.prefix(max(0, options.exampleLimit - problems.count))
    }

    /// Adds a batch that was committed or, in a dry run, validated.
    mutating func add<Source>(_ counts: ImportCounts, _ batch: ImportBatch<Source>, _ options: ImportOptions) {
        inserted += counts.inserted
        updated += counts.updated
        skipped += counts.skipped
        excluded += batch.problems.count
        problems += newProblems(of: batch, options)
        records += batch.count
        if !batch.isEmpty { bytes = batch.last.end }
        if !options.isDryRun, !batch.isEmpty { batches += 1 }
        for (effect, example) in counts.examples {
            switch effect {
            case .inserted: insertedExamples.append(example)
            case .updated: updatedExamples.append(example)
            case .skipped: skippedExamples.append(example)
            }
        }
    }
}
