import PolyStoreKernel

/// The old names of the properties or entities of a new version.
///
/// A name that a mapping gives decides first, then the declared original names, then equal names. A declaration that the old version has already is not applied
/// again. A downgrade undoes what the migration from the new version to the old one would do.
struct Renames {
    /// The old names, by new name.
    private(set) var oldNames: [String: String] = [:]
    /// Two new names with one old name, and that old name; `nil` if there are none.
    private(set) var conflict: (first: String, second: String, origin: String)?

    /// - Parameters:
    ///   - old: The names of the old version, with their original names.
    ///   - new: The names of the new version, with their original names.
    ///   - explicit: New names by old names, which a mapping gives.
    ///   - isDowngrade: Whether the new version is an earlier one, so that the declarations of the old version are undone and those of the new one are not applied.
    init(
        old: [(name: String, original: String?)], new: [(name: String, original: String?)], explicit: [String: String] = [:],
        isDowngrade: Bool = false
    ) {
        let known = Dictionary(old.map { ($0.name, $0.original) }, uniquingKeysWith: { first, _ in first })
        var claims: [String: String] = [:]
        func claim(_ origin: String, _ name: String) {
            if let other = claims[origin] {
                if conflict == nil { conflict = (other, name, origin) }
                return
            }
            claims[origin] = name
            oldNames[name] = origin
        }
        for (origin, name) in explicit.sorted(by: { $0.key < $1.key }) where known.keys.contains(origin) { claim(origin, name) }
        if isDowngrade {
            let forward = Renames(old: new, new: old)
            for (origin, name) in forward.oldNames.sorted(by: { $0.key < $1.key }) where claims[origin] == nil && oldNames[name] == nil {
                claim(origin, name)
            }
        }
        for (name, original) in new where oldNames[name] == nil && !isDowngrade {
            guard let original, original != name, known.keys.contains(original) else { continue }
            if case .some(.some(original)) = known[name] { continue }
            claim(original, name)
        }
        for (name, _) in new where oldNames[name] == nil && known.keys.contains(name) && claims[name] == nil {
            claims[name] = name
            oldNames[name] = name
        }
    }

    /// The new names, by old name.
    var newNames: [String: String] { Dictionary(oldNames.map { ($0.value, $0.key) }, uniquingKeysWith: { first, _ in first }) }
}
