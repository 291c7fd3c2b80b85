import PolyStoreKernel

/// A fetch divided into sections: `From<Person>().sectionBy(\.age).orderBy(.ascending(\.name))`.
public struct SectionedChain<T: Model>: ClauseChain {
    /// The fetch.
    public private(set) var chain: FetchChain<T>
    /// The division into sections.
    public let section: SectionBy<T>

    public func chaining(_ change: (inout FetchChain<T>) -> Void) -> SectionedChain<T> {
        SectionedChain(chain: chain.chaining(change), section: section)
    }
}

extension FetchSource {
    /// Divides the result into sections; see ``SectionBy``.
    public func sectionBy(_ section: SectionBy<Entity>) -> SectionedChain<Entity> { SectionedChain(chain: chain, section: section) }
    /// Creates a section for each value of a property: `.sectionBy(\.age)`.
    public func sectionBy<V>(_ path: KeyPath<Entity, V>) -> SectionedChain<Entity> { sectionBy(SectionBy(path)) }
    /// Creates a section for each name that a closure derives from a property: `.sectionBy(\.age) { "\($0) years old" }`.
    public func sectionBy<V: QueryResult & SendableMetatype>(
        _ path: KeyPath<Entity, V>, name: @escaping @Sendable (V) -> String
    ) -> SectionedChain<Entity> {
        sectionBy(SectionBy(path, name: name))
    }
    /// Creates a section for each name that a closure derives from an optional property.
    public func sectionBy<V: QueryResult & SendableMetatype>(
        _ path: KeyPath<Entity, V?>, name: @escaping @Sendable (V?) -> String
    ) -> SectionedChain<Entity> {
        sectionBy(SectionBy(path, name: name))
    }
    /// Creates a section for each value of a property, specified by name or by a path of to-one relationships.
    public func sectionBy(_ path: String) -> SectionedChain<Entity> { sectionBy(SectionBy(path)) }
}
