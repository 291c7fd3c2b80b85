import Foundation
import PolyStoreBackend
import PolyStoreCore

/// The whole value of a property, for texts and bytes that pages cut.
package struct WholeValue: Sendable {
    package let type: AttributeType
    /// The exact value; nil for null.
    package let value: QueryValue?

    /// The bytes as a file: those of bytes themselves, and a text in UTF-8.
    package var data: Data {
        switch value {
        case nil: Data()
        case .data(let data)?: data
        case .text(let text)?: Data(text.utf8)
        case .url(let url)?: Data(url.absoluteString.utf8)
        case let value?: Data(BrowserValue(value, type, limit: .max).text.utf8)
        }
    }

    /// The media type of the bytes if they are an image by their first bytes; nil for anything else.
    package var imageType: String? { if case .data(let data)? = value { BrowserValue.imageType(data) } else { nil } }
}

extension BrowserStore {
    /// Returns the whole value of an attribute of an object; nil if the object does not exist.
    /// - Throws: `misuse` for the name of anything else than an attribute.
    package func wholeValue(of object: ObjectReference, property: String) async throws -> WholeValue? {
        let model = try model(object.entity)
        guard let attribute = model.attribute(property) else {
            throw StoreError(.misuse, "\(object.entity) has no attribute \"\(property)\".", entity: object.entity, attribute: property)
        }
        let id = try stack.objectID(object.entity, rowID: object.rowID)
        return try await reading { context in
            let query = EntityQuery(object.entity).where("objectID == %@", id).limit(1)
            let rows = try context.queryAttributes(query, Select(SelectTerm(property.asPath, as: "value")))
            return rows.first.map { WholeValue(type: attribute.type, value: $0["value"]) }
        }
    }
}
