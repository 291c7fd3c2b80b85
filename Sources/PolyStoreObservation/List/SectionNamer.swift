import PolyStoreBackend
import PolyStoreKernel
import PolyStoreQuery

/// Determines the section names of rows.
final class SectionNamer {
    private let values: SortValues
    private let type: AttributeType
    private let name: (QueryValue?) -> String
    /// The last result, cached because neighboring rows often have the same value.
    private var last: (value: Value, name: String)?

    /// Creates a namer; `nil` for a list without sections.
    init?(_ query: ListQuery, _ part: ResolvedList.Part, _ related: (any RelatedRecords)?) {
        guard let section = part.section else { return nil }
        values = SortValues([section], related)
        type = section.type
        name = query.sectionName
    }

    func name(_ rowID: Int64, _ record: RecordView) throws -> String {
        let value = try values.values(rowID, record)[0]
        if let last, last.value == value { return last.name }
        let name = name(try QueryValue(value, type))
        last = (value, name)
        return name
    }
}
