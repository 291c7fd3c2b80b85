import Foundation
import PolyStoreBackend

/// The structure that a `Codable` type decodes: the keys of an object, the elements of an array, or a single value.
///
/// Queries name the fields of a JSON attribute by the properties of its type. Only the type itself determines its keys, so it decodes itself from a
/// decoder that records the requested keys and returns sample values.
package struct JSONShape: @unchecked Sendable {  // types hold no state
    /// The form of the JSON.
    package enum Form: Sendable {
        /// An object with keys.
        case object
        /// An array.
        case array
        /// A single value of an attribute type; nil for another type.
        case single(AttributeType?)
        /// The type requests nothing.
        case unknown
    }

    /// The form of the JSON.
    package let form: Form
    /// Returns whether a text is a key that the type declares.
    private let isDeclared: @Sendable (String) -> Bool
    /// The type of each key that the type has requested.
    private let members: [String: any Decodable.Type]
    /// The keys whose property, in a decoded object, has the value of another key.
    private let renamed: Set<String>
    private let name: String

    /// Returns the shape of a type; nil if the type cannot be decoded.
    package static func of(_ type: Any.Type) -> JSONShape? {
        let type = unwrapped(type)
        guard let decodable = type as? any Decodable.Type else { return nil }
        let id = ObjectIdentifier(type)
        if let known = known.withLock({ $0[id] }) { return known }
        let shape = JSONShape(decodable)
        known.withLock { $0[id] = shape }
        return shape
    }

    private static let known = Protected<[ObjectIdentifier: JSONShape]>([:])

    private init<T: Decodable>(_ type: T.Type) {
        name = "\(type)"
        let recorder = JSONShapeRecorder()
        if let attribute = JSONShapeRecorder.special(type) {
            (form, isDeclared, members, renamed) = (.single(attribute), { _ in false }, [:], [])
            return
        }
        let sample = try? T(from: recorder)
        form = recorder.form
        isDeclared = recorder.isDeclared
        members = recorder.members
        var renamed: Set<String> = []
        if let sample {
            for child in Mirror(reflecting: sample).children {
                // Boolean values are too few to distinguish properties.
                guard let label = child.label, let given = recorder.samples[label], given.type != .bool,
                    let found = JSONShapeRecorder.value(child.value)
                else { continue }
                if found != given.value { renamed.insert(label) }
            }
        }
        self.renamed = renamed
    }

    private static func unwrapped(_ type: Any.Type) -> Any.Type { (type as? any OptionalType.Type)?.wrapped ?? type }

    /// Checks that a property of a type is stored in JSON with its name as the key.
    /// - Returns: the type of the value, if the type has requested it.
    /// - Throws: `invalidPredicate` if another key belongs to the property, or if it cannot be determined.
    package static func key(_ property: String, in type: Any.Type) throws -> (any Decodable.Type)? {
        let type = unwrapped(type)
        guard let shape = of(type) else { throw refused("\(type) cannot be decoded, so its keys in JSON are not known.") }
        switch shape.form {
        case .object: break
        case .array: throw refused("\(type).\(property) is not stored: \(type) is an array in JSON, which has elements and no fields.")
        case .single(let attribute):
            throw refused(
                "\(type).\(property) is not stored: \(type) is a single value\(attribute.map { " of the type \($0)" } ?? "") and has no fields."
            )
        case .unknown: throw refused("\(type) decodes no keys, so no condition can be on \(type).\(property).")
        }
        // A type of keys that accepts every text, as that of a dictionary, declares none.
        let isKey = shape.isDeclared("\u{0}") ? shape.members[property] != nil : shape.isDeclared(property)
        guard isKey, !shape.renamed.contains(property) else {
            let keys = shape.members.keys.sorted().map { "\"\($0)\"" }.joined(separator: ", ")
            throw refused(
                "\(type).\(property) is not stored in JSON with the key \"\(property)\"\(keys.isEmpty ? "" : "; \(type) has the keys \(keys)"). "
                    + nameTheKey)
        }
        return shape.members[property]
    }

    /// The advice of an error if a property is not stored with its name as the key.
    static let nameTheKey = "Name the key, in a closure of columns: .field(\"key\", as: String.self)."

    /// Returns the name of the property that a key path of one step leads to.
    /// - Throws: `invalidPredicate` for a computed property, and where the program has no names of properties.
    package static func name(of path: AnyKeyPath, in type: Any.Type) throws -> String {
        guard let names = KeyPathSteps(path)?.names, names.count == 1, let name = names.first, !name.hasPrefix("<") else {
            throw refused(
                "A property of \(type) of the type \(Swift.type(of: path).valueType) is computed, or the program is built without the names of properties. "
                    + "Name its key in JSON instead: .field(\"key\", as: \(Swift.type(of: path).valueType).self).")
        }
        return name
    }

    /// Returns the type as which the values of a type are read in JSON; `json` for values that are not attributes.
    package static func attributeType(of type: Any.Type) -> AttributeType {
        guard case .single(let attribute?)? = of(type)?.form else { return .json }
        return JSONField.type(for: attribute)
    }

    /// Returns the types of the steps of a key path behind a JSON attribute.
    /// - Throws: `invalidPredicate` if a step is not stored with its name as the key.
    package static func type(of steps: ArraySlice<String>, in type: Any.Type, endingAt end: Any.Type) throws -> AttributeType {
        var type = type
        for (index, step) in zip(steps.indices, steps) {
            guard !step.hasPrefix("<") else {
                throw refused(
                    "A property of \(type) is computed, or the program is built without the names of properties. Name its key in JSON, in a closure of "
                        + "columns: .field(\"key\", as: \(unwrapped(end)).self).")
            }
            let member = try key(step, in: type)
            if index == steps.indices.last { break }
            guard let member else {
                throw refused("The type of \(type).\(step) cannot be determined. Use a closure of columns instead of a key path.")
            }
            type = member
        }
        return attributeType(of: end)
    }

    private static func refused(_ message: String) -> StoreError { StoreError(.invalidPredicate, message) }
}
