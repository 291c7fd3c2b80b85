/// Iterates over the documents that contain a term with a prefix.
///
/// Reads the occurrences of all terms in a range of documents into one list, and those of the next range when the list ends. The list has a maximum number of entries, which
/// decides how many documents a range has, so the memory does not depend on the number of terms.
final class PrefixCursor: PhraseCursor {
    private struct Entry {
        var document: DocumentKey
        /// The field in the upper half, the position or the number of occurrences of a term in the lower half.
        var place: UInt64
    }

    /// The maximum number of candidates that are read together.
    private static let batch = 1 << 17

    private let compiler: SearchCompiler
    private let prefix: [UInt8]
    private let mask: UInt64
    private let givesPositions: Bool
    private let limit: Int
    /// The documents that the caller can request; nil for all documents.
    private let candidates: DocumentCursor?
    /// The candidates that were read and whose occurrences were not read yet.
    private var sought: [DocumentKey] = []
    /// The occurrences in the documents up to ``upTo``, ascending.
    private var entries: [Entry] = []
    private var upTo: DocumentKey = .max
    private var index = 0
    /// The number of entries from which the range is shortened.
    private var room = 0
    private var hasCounted = false
    private let scratch = PositionList()

    /// Creates a cursor at the first document.
    /// - Parameters:
    ///   - candidates: A cursor whose documents are the only ones that are needed; nil if all are.
    ///   - givesPositions: Whether the cursor gives positions. Otherwise it gives numbers of occurrences only.
    ///   - limit: The number of entries of the list, unless one document has more.
    init(
        _ compiler: SearchCompiler, _ prefix: [UInt8], mask: UInt64, candidates: DocumentCursor?, givesPositions: Bool, limit: Int
    ) throws {
        self.compiler = compiler
        self.prefix = prefix
        self.mask = mask
        self.candidates = candidates
        self.givesPositions = givesPositions
        self.limit = limit
        super.init()
        try load(from: 0)
    }

    /// The number is not known. A great one makes the other cursors of a conjunction lead.
    override var estimate: Int { 1 << 40 }

    override func next() throws {
        let current = document
        while index < entries.count, entries[index].document == current { index += 1 }
        try settle()
    }

    override func skip(to target: DocumentKey) throws {
        if isAtEnd || document >= target { return }
        guard target <= upTo else { return try load(from: target) }
        index = (index..<entries.count).place { entries[$0].document < target }
        try settle()
    }

    private func settle() throws {
        if index < entries.count {
            document = entries[index].document
        } else if upTo == .max {
            isAtEnd = true
        } else {
            try load(from: upTo + 1)
        }
    }

    override func forEachField(_ body: (Int, Int) throws -> Void) throws {
        var place = index
        while place < entries.count, entries[place].document == document {
            let field = entries[place].place >> 32
            var count = 0
            while place < entries.count, entries[place].document == document, entries[place].place >> 32 == field {
                count += givesPositions ? 1 : Int(entries[place].place & 0xffff_ffff)
                place += 1
            }
            try body(Int(field), count)
        }
    }

    override func appendPositions(to list: PositionList) throws {
        var place = index
        while place < entries.count, entries[place].document == document {
            list.append(entries[place].place)
            place += 1
        }
    }
}

/// The list.
extension PrefixCursor {
    /// Reads the first range that begins at a document or after it and has occurrences, and goes to its first document.
    private func load(from first: DocumentKey) throws {
        var first = first
        entries.removeAll(keepingCapacity: true)
        index = 0
        room = limit
        while try seek(from: first) {
            try compiler.forEachTerm(from: prefix) { _, scans in
                if !hasCounted { compiler.terms += 1 }
                guard let cursor = try compiler.cursor(scans, mask: mask) else { return true }
                if candidates == nil { try addAll(cursor, from: first) } else { try addSought(cursor) }
                return true
            }
            hasCounted = true
            entries.sort { $0.document != $1.document ? $0.document < $1.document : $0.place < $1.place }
            if let first = entries.first {
                document = first.document
                return
            }
            guard upTo < .max else { break }
            first = upTo + 1
        }
        isAtEnd = true
    }

    /// Selects the documents whose occurrences are read. Returns false without such documents.
    private func seek(from first: DocumentKey) throws -> Bool {
        upTo = .max
        guard let candidates else { return true }
        sought.removeSubrange(..<sought.indices.place { sought[$0] < first })
        if sought.isEmpty {
            try candidates.skip(to: first)
            sought = try candidates.nextDocuments(Self.batch)
        }
        if !candidates.isAtEnd, let last = sought.last { upTo = last }
        return !sought.isEmpty
    }

    private func addAll(_ cursor: TermCursor, from first: DocumentKey) throws {
        try cursor.skip(to: first)
        while !cursor.isAtEnd, cursor.document <= upTo {
            try add(cursor)
            try cursor.next()
        }
    }

    private func addSought(_ cursor: TermCursor) throws {
        var next = 0
        while next < sought.count, sought[next] <= upTo {
            try cursor.skip(to: sought[next])
            guard !cursor.isAtEnd else { return }
            if cursor.document == sought[next] {
                try add(cursor)
                next += 1
            } else {
                next = (next..<sought.count).place { sought[$0] < cursor.document }
            }
        }
    }

    private func add(_ cursor: TermCursor) throws {
        let document = cursor.document
        if givesPositions {
            scratch.removeAll()
            try cursor.appendPositions(to: scratch)
            for index in 0..<scratch.count { entries.append(Entry(document: document, place: scratch[index])) }
        } else {
            try cursor.forEachField { field, count in
                entries.append(Entry(document: document, place: UInt64(field) << 32 | UInt64(UInt32(clamping: count))))
            }
        }
        guard entries.count > room else { return }
        shorten()
        room = max(limit, 2 * entries.count)
    }

    /// Ends the range earlier, so that about half of the entries remain. The entries of one document always remain.
    private func shorten() {
        guard let first = entries.lazy.map(\.document).min(), first < upTo else { return }
        entries.sort { $0.document < $1.document }
        let middle = entries[entries.count / 2].document
        upTo = middle > first ? middle - 1 : first
        entries.removeSubrange((entries.firstIndex { $0.document > upTo } ?? entries.count)...)
    }
}
