/// Sizes of an index. Tests use small ones, so that few documents fill many pages and segments.
package struct SearchIndexLimits: Sendable {
    /// The number of bytes of a page. A page is larger if one document's positions of a term need more.
    ///
    /// A value of 4,064 bytes fits into one overflow page of LMDB and SQLite.
    package var page = 4_064
    /// The number of postings of a block.
    package var block = 128
    /// The number of postings from which a block has impacts.
    package var impacts = 32
    /// The number of bytes of positions that the first block of a term keeps beside its postings.
    package var inlinePositions = 768
    /// The number of bytes of collected changes that are written as one segment.
    package var memory = 32 << 20
    /// The number of segments that are merged into one.
    package var fanout = 8
    /// The number of segments from which merges are completed in the transaction that exceeds it.
    package var segments = 40
    /// The number of postings from which a commit does not complete a merge to have fewer segments if it can merge smaller ones.
    package var merge = 1 << 20
    /// The number of bytes of pages that a reader keeps.
    package var cache = 16 << 20
    /// The number of entries of 16 bytes that a reader keeps of phrases that it counted. A cursor for a prefix of many terms has a list of half as many.
    package var list = 2 << 20
    /// The number of terms of a prefix up to which each has a cursor.
    package var prefixTerms = 64
    /// The number of postings up to which a term of a prefix with more terms has no cursor.
    package var prefixPostings = 256
    /// The number of cursors that a prefix of more terms may have; a term has one in each segment.
    package var prefixCursors = 1_024

    package init() {}
}
