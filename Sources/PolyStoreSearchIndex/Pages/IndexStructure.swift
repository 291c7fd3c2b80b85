/// A segment in the structure record, with the counts of its contents.
struct Segment: Hashable, Sendable {
    var id: UInt64
    var level: Int
    /// The number of pages of postings.
    var pages = 0
    /// The number of pages of positions.
    var positionPages = 0
    /// The number of postings and deletion markers.
    var postings = 0
}

/// A merge that is not complete: the output has the postings up to the progress, the inputs have the others.
struct Merge: Hashable, Sendable {
    /// The ids of the inputs, oldest first. They follow one another in the structure.
    var inputs: [UInt64]
    var output: Segment
    /// The last posting of the output; nil if it has none.
    var progress: TermPosition?
    /// The change of the frequency of the term of the progress by the postings that the output has.
    var delta = 0
    /// The number of the first page of positions that each input still has.
    var firstPositionPages: [Int]
    /// The number of pages of postings that each input has lost.
    var removedPages: [Int]
    /// The number of bytes of pages that the merge may write, from the flushes since its last step.
    var credit = 0
}

/// The segments of an index and its counts: the record that is written with each change.
struct IndexStructure: Hashable, Sendable {
    static let format = 1
    /// The greatest number of documents, tokens, pages and postings, so that sums do not overflow.
    private static let maximumCount = 1 << 48

    var fields: Int
    var nextSegment: UInt64 = 1
    /// The number of documents.
    var documents = 0
    /// The number of tokens of all documents.
    var tokens = 0
    /// The segments, oldest first, without the outputs of merges that are not complete.
    var segments: [Segment] = []
    var merges: [Merge] = []

    init(fields: Int) { self.fields = fields }

    var bytes: [UInt8] {
        let buffer = ByteBuffer()
        for value in [Self.format, fields, Int(nextSegment), documents, tokens, segments.count] { buffer.append(varint: value) }
        for segment in segments { Self.append(segment, to: buffer) }
        buffer.append(varint: merges.count)
        for merge in merges {
            buffer.append(varint: merge.inputs.count)
            for (index, input) in merge.inputs.enumerated() {
                buffer.append(varint: input)
                buffer.append(varint: merge.firstPositionPages[index])
                buffer.append(varint: merge.removedPages[index])
            }
            buffer.append(varint: merge.credit)
            Self.append(merge.output, to: buffer)
            buffer.append(signed: Int64(merge.delta))
            buffer.append(merge.progress == nil ? 0 : merge.progress?.document == nil ? 1 : 2)
            if let progress = merge.progress {
                buffer.append(varint: progress.term.count)
                buffer.append(progress.term)
                if let document = progress.document { buffer.append(varint: document) }
            }
        }
        return buffer.bytes
    }

    private static func append(_ segment: Segment, to buffer: ByteBuffer) {
        buffer.append(varint: segment.id)
        for value in [segment.level, segment.pages, segment.positionPages, segment.postings] { buffer.append(varint: value) }
    }
}

extension IndexStructure {
    /// Decodes the record of an index.
    init(_ bytes: [UInt8], fields: Int) throws {
        let page = PageBytes(bytes)
        var reader = page.reader
        let format = try reader.count(atMost: .max)
        guard format == Self.format else { throw SearchIndexError.unknownFormat(format) }
        self.init(fields: try reader.count(atMost: 64))
        guard self.fields == fields else {
            throw SearchIndexError.damaged("it has \(self.fields) fields and not \(fields)")
        }
        nextSegment = UInt64(try reader.count(atMost: 1 << 48))
        documents = try reader.count(atMost: Self.maximumCount)
        tokens = try reader.count(atMost: Self.maximumCount)
        for _ in 0..<(try reader.count(atMost: 1 << 20)) { segments.append(try Self.segment(&reader)) }
        for _ in 0..<(try reader.count(atMost: 1 << 20)) { merges.append(try Self.merge(&reader)) }
        guard reader.isAtEnd else { throw SearchIndexError.trailingBytes("the structure record") }
        try check()
    }

    private static func segment(_ reader: inout ByteReader) throws -> Segment {
        Segment(
            id: UInt64(try reader.count(atMost: 1 << 48)), level: try reader.count(atMost: 64),
            pages: try reader.count(atMost: Self.maximumCount),
            positionPages: try reader.count(atMost: Int(UInt32.max)), postings: try reader.count(atMost: Self.maximumCount)
        )
    }

    private static func merge(_ reader: inout ByteReader) throws -> Merge {
        var inputs: [UInt64] = []
        var firstPositionPages: [Int] = []
        var removedPages: [Int] = []
        for _ in 0..<(try reader.count(atMost: 1 << 20)) {
            inputs.append(try reader.varint())
            firstPositionPages.append(try reader.count(atMost: Int(UInt32.max)))
            removedPages.append(try reader.count(atMost: Self.maximumCount))
        }
        let credit = try reader.count(atMost: Self.maximumCount)
        let output = try segment(&reader)
        let delta = try reader.signed()
        guard delta.magnitude <= UInt64(Self.maximumCount) else {
            throw SearchIndexError.damaged("the structure record has an impossible count")
        }
        var progress: TermPosition?
        let kind = try reader.byte()
        if kind > 0 {
            let count = try reader.count(atMost: PageKey.maximumTermLength)
            let start = try reader.take(count)
            progress = TermPosition(
                term: Array(UnsafeBufferPointer(start: start, count: count)), document: kind == 1 ? nil : try reader.varint())
        }
        return Merge(
            inputs: inputs, output: output, progress: progress, delta: Int(delta), firstPositionPages: firstPositionPages,
            removedPages: removedPages, credit: credit
        )
    }

    /// Checks that the inputs of each merge are segments that follow one another, and that no id occurs twice.
    private func check() throws {
        var ids = Set(segments.map(\.id))
        guard ids.count == segments.count else { throw SearchIndexError.damaged("two segments have the same id") }
        var inputs = Set<UInt64>()
        for merge in merges {
            let start = segments.firstIndex { $0.id == merge.inputs.first }
            guard let start, start + merge.inputs.count <= segments.count,
                segments[start..<start + merge.inputs.count].map(\.id) == merge.inputs,
                ids.insert(merge.output.id).inserted, merge.inputs.allSatisfy({ inputs.insert($0).inserted })
            else { throw SearchIndexError.damaged("the inputs of a merge are not segments that follow one another") }
        }
        guard ids.allSatisfy({ $0 < nextSegment }) else { throw SearchIndexError.damaged("a segment has an id that was not assigned") }
    }

    /// The segments as a search sees them, oldest first: of an unfinished merge the output and the inputs from the progress on.
    var views: [SegmentView] {
        var views: [SegmentView] = []
        for segment in segments {
            guard let merge = merges.first(where: { $0.inputs.contains(segment.id) }) else {
                views.append(SegmentView(id: segment.id, after: nil))
                continue
            }
            if merge.inputs.first == segment.id, merge.progress != nil {
                views.append(SegmentView(id: merge.output.id, after: nil, isPartial: true))
            }
            views.append(SegmentView(id: segment.id, after: merge.progress))
        }
        return views
    }
}

/// A segment, without the postings that an unfinished merge has moved to its output.
struct SegmentView: Hashable, Sendable {
    var id: UInt64
    /// The postings up to this position do not count.
    var after: TermPosition?
    /// A Boolean value that indicates whether this is the output of an unfinished merge, which can end within a term.
    var isPartial = false
}
