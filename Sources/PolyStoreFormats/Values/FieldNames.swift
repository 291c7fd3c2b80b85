/// The field names of an object in order, shared by the objects of a reader with the same fields.
///
/// `@unchecked Sendable`: it is modified only through ``JSONObject``, which first ensures that its reference is unique.
final class FieldNames: @unchecked Sendable {
    private(set) var list: [String]
    /// The index of each name; used only for more than ``linearLimit`` names.
    private var positions: [String: Int] = [:]

    /// The number of names up to which a linear search is faster than hashing.
    static let linearLimit = 12

    static let empty = FieldNames([])

    /// - Parameter list: Distinct names.
    init(_ list: [String]) {
        self.list = list
        index()
    }

    private init(_ list: [String], _ positions: [String: Int]) {
        self.list = list
        self.positions = positions
    }

    private func index() {
        positions.removeAll(keepingCapacity: true)
        guard list.count > Self.linearLimit else { return }
        positions.reserveCapacity(list.count)
        for (position, name) in list.enumerated() where positions[name] == nil { positions[name] = position }
    }

    func position(of name: String) -> Int? {
        positions.isEmpty ? list.firstIndex(of: name) : positions[name]
    }

    func append(_ name: String) {
        list.append(name)
        if !positions.isEmpty {
            positions[name] = list.count - 1
        } else if list.count > Self.linearLimit {
            index()
        }
    }

    func remove(at position: Int) {
        list.remove(at: position)
        index()
    }

    func copy() -> FieldNames { FieldNames(list, positions) }
}
