import PolyStoreBackend

extension ModelCoding {
    /// Returns the component of an index that is a field of a `Codable` value. Its type is that of the property, as in conditions by the same key path.
    /// - Parameters:
    ///   - attribute: The stored name of the property of the model.
    ///   - property: The property of the model.
    ///   - keys: The names of the properties behind it.
    ///   - path: The whole key path.
    public static func indexPart<Root, Attribute, Field>(
        _ attribute: String, _ property: KeyPath<Root, Attribute>, _ keys: [String], _ path: KeyPath<Root, Field>
    ) -> IndexDescription.Part {
        do {
            return .json(attribute, keys, as: try JSONShape.type(of: keys[...], in: Attribute.self, endingAt: Field.self))
        } catch {
            var part = IndexDescription.Part.json(attribute, keys, as: .string)
            let reason = (error as? StoreError)?.message ?? "\(error)"
            // The schema reports it, because descriptions are made by properties that do not throw.
            part.problem = reason.replacing(JSONShape.nameTheKey, with: "Give the property the name of its key.")
            return part
        }
    }
}
