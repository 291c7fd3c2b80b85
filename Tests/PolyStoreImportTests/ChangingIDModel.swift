import PolyStore

/// The documented rules of imports that change unique ids, applied to a list of articles, one source after another.
struct ArticleModel: Equatable {
    struct Row: Equatable {
        var code: Int
        /// The row id. Row ids need not ascend in the order of creation, because an unqueued transaction can have reserved the lower ones earlier.
        var id: Int64
        var text = ""
        var updates = 0
    }

    /// The articles, in the order of their creation.
    var rows: [Row] = []

    var contents: [String] { rows.sorted { $0.code < $1.code }.map { "\($0.code) \($0.text) \($0.updates)" } }

    /// Returns the index of the article with a unique id; of several articles, which only a transaction can see, of the one with the lowest row id.
    private func index(_ code: Int) -> Int? {
        rows.indices.filter { rows[$0].code == code }.min { rows[$0].id < rows[$1].id }
    }

    /// Imports a source.
    /// - Parameters:
    ///   - known: The index of the article that the import found for the unique id before it changed any.
    ///   - id: The row id of the article if it is inserted; `nil` for one after all others.
    /// - Returns: The index of the article; `nil` if the source is skipped.
    @discardableResult
    mutating func add(_ source: ArticleSource, known: Int? = nil, id: Int64? = nil) throws -> Int? {
        guard let code = source.code, !source.skips else { return nil }
        let own: Int
        if let known, rows[known].code == code {
            own = known
        } else if let found = index(code) {
            own = found
        } else {
            rows.append(Row(code: code, id: id ?? (rows.map(\.id).max() ?? 0) + 1))
            own = rows.count - 1
        }
        rows[own].text += source.text
        rows[own].updates += 1
        if let newCode = source.newCode { rows[own].code = newCode }
        if let other = source.swapsWith.flatMap(index) { (rows[own].code, rows[other].code) = (rows[other].code, rows[own].code) }
        if let moves = source.moves, let other = index(moves.from) { rows[other].code = moves.to }
        for twin in source.twin { try add(twin) }
        if source.fails { throw RefusedArticle() }
        return own
    }

    /// Imports a call of a transaction: of the sources with one unique id the last one, at the position of the first.
    /// - Parameter ids: The row ids of the imported articles.
    mutating func add(call sources: [ArticleSource], ids: [Int64]) throws -> [Int] {
        var order: [Int] = []
        var last: [Int: ArticleSource] = [:]
        for source in sources {
            guard let code = source.code else { continue }
            if last.updateValue(source, forKey: code) == nil { order.append(code) }
        }
        let known = order.map(index)
        var imported: [Int] = []
        for (position, code) in order.enumerated() {
            guard let source = last[code] else { continue }
            let id = imported.count < ids.count ? ids[imported.count] : nil
            if let own = try add(source, known: known[position], id: id) { imported.append(own) }
        }
        return imported
    }

    /// A Boolean value that indicates whether two articles have one unique id.
    var hasDuplicates: Bool { Set(rows.map(\.code)).count < rows.count }

    /// Imports a record of a run.
    /// - Returns: `false` for an invalid record, which changes nothing.
    mutating func addRecord(_ source: ArticleSource) -> Bool {
        let before = self
        do {
            guard !source.isUnreadable, !source.failsID else { throw RefusedArticle() }
            try add(source)
            guard !hasDuplicates, source.rank == 0 || source.skips || source.code == nil else { throw RefusedArticle() }
            return true
        } catch {
            self = before
            return false
        }
    }
}

/// The result of a run.
struct ArticleOutcome: Equatable {
    var contents: [String] = []
    var records = 0
    var inserted = 0
    var updated = 0
    var skipped = 0
    /// The numbers of the excluded records.
    var excluded: [Int] = []
    /// The number of the record that ended the run.
    var stopped: Int?
}

extension ArticleModel {
    /// Imports records.
    /// - Parameters:
    ///   - size: The number of records of a batch; `nil` for all.
    ///   - limit: The number of records that may be excluded.
    mutating func run(_ sources: [ArticleSource], size: Int?, limit: Int) -> ArticleOutcome {
        var outcome = ArticleOutcome()
        var committed = (model: self, outcome: outcome)
        for (index, source) in sources.enumerated() {
            let count = rows.count
            if addRecord(source) {
                if source.code == nil || source.skips {
                    outcome.skipped += 1
                } else if isInsert(source, count) {
                    outcome.inserted += 1
                } else {
                    outcome.updated += 1
                }
            } else if outcome.excluded.count == limit {
                (self, outcome) = committed
                outcome.stopped = index + 1
                break
            } else {
                outcome.excluded.append(index + 1)
            }
            outcome.records = index + 1
            if let size, (index + 1) % size == 0 { committed = (self, outcome) }
        }
        outcome.contents = contents
        return outcome
    }

    /// Returns whether the record that was added last inserted its own article: the first of the new ones, unless a twin inserted it.
    private func isInsert(_ source: ArticleSource, _ count: Int) -> Bool {
        guard rows.count > count else { return false }
        return source.twin.isEmpty || rows[count].text.hasPrefix(source.text)
    }
}
