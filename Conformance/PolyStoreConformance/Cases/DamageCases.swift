import PolyStoreBackend

/// The effect of a flipped bit. ``DamageHarness`` runs more of these on any target.
let damageCases: [ConformanceCase] = [
    ConformanceCase(
        "damage.flipped-bit.is-found-by-every-walk",
        "With a flipped bit in a record of a closed store, each read throws or is correct; none omits the record.",
        requires: [.persistence, .verification], findsDamage: true, needsFiles: true
    ) { run in
        guard try run.keepsFilesAtItsPath() else { return }
        let sample = DamageSample(rows: 400)
        try sample.fill(run)
        let answers = try sample.answers(run)
        let files = try StoreFiles(reading: run.folderPath)
        for row in [1, 137, 250, 400] {
            var damaged = files
            let locations = files.locations(of: sample.payload(row))
            // The engine stores payloads in another form.
            if locations.isEmpty { continue }
            for (name, offset) in locations { damaged.items[name]?.contents?[offset + 40] ^= 8 }
            try damaged.write(to: run.folderPath)
            let report = try sample.compare(run, with: answers)
            try run.expect(report.wrong, equals: [], "a bit of object \(row) was flipped")
            try run.expect(report.isFound, "a bit of object \(row) was flipped, and neither opening nor reading nor verifying finds it")
        }
    }
]
