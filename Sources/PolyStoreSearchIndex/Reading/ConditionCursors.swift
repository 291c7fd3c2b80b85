/// Goes through the documents that several cursors have in common. The one with the fewest documents leads.
final class AndCursor: DocumentCursor {
    private let cursors: [DocumentCursor]

    init(_ cursors: [DocumentCursor]) throws {
        self.cursors = cursors.sorted { $0.estimate < $1.estimate }
        super.init()
        try settle()
    }

    override var estimate: Int { cursors.first?.estimate ?? 0 }

    override func next() throws {
        try cursors[0].next()
        try settle()
    }

    override func skip(to target: DocumentKey) throws {
        if isAtEnd || document >= target { return }
        try cursors[0].skip(to: target)
        try settle()
    }

    override func nextDocuments(_ limit: Int) throws -> [DocumentKey] {
        var found: [DocumentKey] = []
        while !isAtEnd, found.count < limit {
            var documents = try cursors[0].nextDocuments(limit - found.count)
            for cursor in cursors.dropFirst() { try cursor.retain(&documents) }
            found += documents
            try settle()
        }
        return found
    }

    /// Moves to the first document that satisfies a condition, the current one included.
    /// - Returns: False if there is none.
    func settle(where isMatch: () throws -> Bool) throws -> Bool {
        while !isAtEnd {
            if try isMatch() { return true }
            try next()
        }
        return false
    }

    private func settle() throws {
        guard let lead = cursors.first else {
            isAtEnd = true
            return
        }
        search: while !lead.isAtEnd {
            for cursor in cursors.dropFirst() {
                try cursor.skip(to: lead.document)
                guard !cursor.isAtEnd else {
                    isAtEnd = true
                    return
                }
                guard cursor.document == lead.document else {
                    try lead.skip(to: cursor.document)
                    continue search
                }
            }
            document = lead.document
            return
        }
        isAtEnd = true
    }
}

/// Goes through the documents that at least one of several cursors has.
final class OrCursor: DocumentCursor {
    private let cursors: [DocumentCursor]

    init(_ cursors: [DocumentCursor]) {
        self.cursors = cursors
        super.init()
        settle()
    }

    override var estimate: Int { cursors.reduce(0) { $0 + $1.estimate } }

    override func next() throws {
        for cursor in cursors where !cursor.isAtEnd && cursor.document == document { try cursor.next() }
        settle()
    }

    override func skip(to target: DocumentKey) throws {
        if isAtEnd || document >= target { return }
        for cursor in cursors where !cursor.isAtEnd { try cursor.skip(to: target) }
        settle()
    }

    private func settle() {
        isAtEnd = true
        for cursor in cursors where !cursor.isAtEnd && (isAtEnd || cursor.document < document) {
            document = cursor.document
            isAtEnd = false
        }
    }
}

/// Goes through the documents of one cursor that another does not have.
final class ExcludingCursor: DocumentCursor {
    private let included: DocumentCursor
    private let excluded: DocumentCursor

    init(_ included: DocumentCursor, _ excluded: DocumentCursor) throws {
        self.included = included
        self.excluded = excluded
        super.init()
        try settle()
    }

    override var estimate: Int { included.estimate }

    override func next() throws {
        try included.next()
        try settle()
    }

    override func skip(to target: DocumentKey) throws {
        if isAtEnd || document >= target { return }
        try included.skip(to: target)
        try settle()
    }

    private func settle() throws {
        while !included.isAtEnd {
            try excluded.skip(to: included.document)
            if excluded.isAtEnd || excluded.document != included.document {
                document = included.document
                return
            }
            try included.next()
        }
        isAtEnd = true
    }
}
