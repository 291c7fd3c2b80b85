extension ImportReport {
    /// Adopts the counts of the earlier run that this one resumes.
    mutating func continueFrom(_ position: ImportPosition) {
        inserted = position.inserted
        updated = position.updated
        skipped = position.skipped
        excluded = position.refused
        records = position.mark.recordPosition.record
        bytes = position.mark.recordPosition.end
        batches = position.batches
        resumedFrom = position.mark.recordPosition.record
    }

    /// Adds a batch that was committed or, in a dry run, validated.
    mutating func add<Source>(_ counts: ImportCounts, _ batch: ImportBatch<Source>, _ options: ImportOptions) {
        inserted += counts.inserted
        updated += counts.updated
        skipped += counts.skipped
        excluded += batch.problems.count
        problems += batch.problems.sorted { $0.record < $1.record }.prefix(max(0, options.exampleLimit - problems.count))
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
