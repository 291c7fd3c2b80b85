import PolyStoreBackend
import PolyStoreSearch

/// A full-text index of a store: what determines its contents, and its number in the store.
///
/// Two indexes of a model that differ only in names and weights are one index of the store.
package struct StoredSearchIndex: Hashable, Sendable {
    /// The number of the index in the store.
    package let number: UInt32
    /// The ``Entity/index`` of the entity.
    package let entity: Int
    /// The field indexes, in order.
    package let fields: [Int]
    /// How texts are divided into tokens.
    package let options: SearchOptions
    /// The fields as a set.
    package let mask: FieldMask

    /// Creates the description of an index.
    package init(number: UInt32, entity: Int, fields: [Int], options: SearchOptions) {
        self.number = number
        self.entity = entity
        self.fields = fields
        self.options = options
        var mask = FieldMask()
        for field in fields { mask.insert(field) }
        self.mask = mask
    }

    /// Returns whether the index serves a full-text index of a model.
    package func serves(_ index: SearchIndex, of entity: Entity) -> Bool {
        self.entity == entity.index && fields == index.fields && options == index.options
    }

    /// Returns the name of the index for messages and for `rebuildIndexes`, which is the `SearchIndex.plainName` of those that it serves.
    package func name(in schema: ResolvedSchema) -> String {
        let entity = schema.entities[entity]
        return SearchIndex.plainName(entity.name, fields.map { entity.fields[$0].name })
    }

    /// Returns the texts of a document: one for each field, nil for null; nil if the object is not a document of the index.
    package func texts(of record: RecordView?) -> [String?]? {
        guard let record else { return nil }
        return document { record.isNull($0) ? nil : record.string($0) }
    }

    /// Returns the texts of a document after an update of some fields.
    func texts(of record: RecordView, updatedBy changed: RecordView, _ updated: FieldMask) -> [String?]? {
        document { field in
            let source = updated.contains(field) ? changed : record
            return source.isNull(field) ? nil : source.string(field)
        }
    }

    private func document(_ text: (Int) -> String?) -> [String?]? {
        let texts = fields.map(text)
        return texts.contains { $0 != nil } ? texts : nil
    }
}

extension Sequence<StoredSearchIndex> {
    /// Compacts each index. A damaged one stays as it is, and a warning names it.
    package func compact(_ logger: any StoreLogger, _ compact: (StoredSearchIndex) throws -> Void) throws {
        for index in self {
            do { try compact(index) } catch let error as StoreError where error.isDamagedIndex {
                logger.write(.warning, "\(error.message) The rest of the store is compacted.")
            }
        }
    }
}

extension StoreError {
    /// A Boolean value that indicates whether the contents of an index are damaged, and not the file or the connection.
    package var isDamagedIndex: Bool { code == .corrupt && engineCode == 0 }
}

/// How much of a full-text index is built.
package enum SearchIndexState: Hashable, Sendable {
    /// The index contains all documents, and searches use it.
    case complete
    /// The index is being built in the order of the row ids, and contains the documents up to a row id; nil for none. Searches do not use it.
    case building(through: Int64?)

    /// Returns whether writers maintain a document.
    package func covers(_ rowID: Int64) -> Bool {
        switch self {
        case .complete: true
        case .building(let last): last.map { rowID <= $0 } ?? false
        }
    }
}

/// The change of one document of a full-text index.
package struct SearchTextChange {
    package let index: StoredSearchIndex
    package let rowID: Int64
    let old: [String?]?
    let new: [String?]?
    /// The record of a new object, whose texts are read when they are indexed; the change set owns its bytes.
    var inserted: RecordView?

    package init(index: StoredSearchIndex, rowID: Int64, old: [String?]?, new: [String?]?, inserted: RecordView? = nil) {
        self.index = index
        self.rowID = rowID
        self.old = old
        self.new = new
        self.inserted = inserted
    }
}
