import PolyStoreBackend
import PolyStoreConditions
public import PolyStoreKernel
public import PolyStoreSearch

extension Columns {
    /// Selects objects by a full-text search in the texts of an index: `.where { $0.search("lazy dog") && $0.year > 2000 }`.
    ///
    /// The text is what a user typed, which is never an error. The model declares the index: `#Search(\.title, \.body)`. See ``PolyStoreSearch/Search`` for the language.
    /// - Parameters:
    ///   - text: What is searched for.
    ///   - index: The name of the index; empty for the one without a name, or the only one.
    public func search(_ text: String, in index: String = "") -> ColumnCondition { search(Search(text), in: index) }

    /// Selects objects by a full-text search.
    public func search(_ search: Search, in index: String = "") -> ColumnCondition {
        ColumnCondition(object) { .comparison(Comparison(search, in: index, of: try $0[0].path)) }
    }

    /// The score of the object in a full-text search, as a value and as an order: `.orderBy { $0.searchScore("lazy dog").descending }`. 0 if the object does not match.
    public func searchScore(_ text: String, in index: String = "") -> Column<Double> { searchScore(Search(text), in: index) }

    /// The score of the object in a full-text search; 0 if the object does not match.
    public func searchScore(_ search: Search, in index: String = "") -> Column<Double> { Column(_$value: object.score(search, index)) }

    /// The object itself.
    private var object: ColumnValue {
        ColumnValue(.operand(.path(PropertyPath([], variable: variable))), root: variable == nil ? ObjectIdentifier(T.self) : nil)
    }
}

extension Column {
    /// Selects objects by a full-text search in the texts of the object that the relationship leads to: `.where { $0.author.search("jane") }`.
    public func search<D: Model>(_ text: String, in index: String = "") -> ColumnCondition where V == D? { search(Search(text), in: index) }

    /// Selects objects by a full-text search in the texts of the object that the relationship leads to.
    public func search<D: Model>(_ search: Search, in index: String = "") -> ColumnCondition where V == D? {
        ColumnCondition(_$value) { .comparison(Comparison(search, in: index, of: try $0[0].path)) }
    }

    /// The score of the object that the relationship leads to; null if there is none, and 0 if it does not match.
    public func searchScore<D: Model>(_ text: String, in index: String = "") -> Column<Double?> where V == D? {
        searchScore(Search(text), in: index)
    }

    /// The score of the object that the relationship leads to; null if there is none, and 0 if it does not match.
    public func searchScore<D: Model>(_ search: Search, in index: String = "") -> Column<Double?> where V == D? {
        Column<Double?>(_$value: _$value.score(search, index))
    }
}

extension ColumnValue {
    fileprivate func score(_ search: Search, _ index: String) -> ColumnValue {
        ColumnValue([self]) { Comparison(search, in: index, of: try $0[0].path).score }
    }
}

extension ColumnCondition {
    /// Creates a condition on an object, with the failure of a value that has one.
    fileprivate init(_ value: ColumnValue, _ make: ([Operand]) throws -> Condition) {
        do {
            let condition = try make([try value.operand])
            self.init(condition, root: value.root, levels: value.levels + 1)
        } catch {
            self.init(.constant(false), root: nil, error: StoreError(describing: error))
        }
    }
}

extension Operand {
    /// The path of an object.
    fileprivate var path: PropertyPath {
        get throws {
            guard case .path(let path) = self else {
                throw StoreError(.invalidPredicate, "A closure of columns searches in the texts of a value that is not an object.")
            }
            return path
        }
    }
}
