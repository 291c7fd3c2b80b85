import PolyStoreCore

/// A value that equals another as in groups of a store: texts by their bytes, since Swift takes other forms of a letter for the same text, and all NaNs.
struct ExactValue: Hashable {
    let value: QueryValue

    init(_ value: QueryValue) { self.value = value }

    static func == (left: ExactValue, right: ExactValue) -> Bool {
        switch (left.value, right.value) {
        case (.text(let left), .text(let right)): left.utf8.elementsEqual(right.utf8)
        case (.url(let left), .url(let right)): left.absoluteString.utf8.elementsEqual(right.absoluteString.utf8)
        case (.real(let left), .real(let right)): left == right || left.isNaN && right.isNaN
        default: left.value == right.value
        }
    }

    func hash(into hasher: inout Hasher) {
        switch value {
        case .real(let value): hasher.combine(value.isNaN ? 0 : value)
        case .url(let value): hasher.combine(value.absoluteString)
        default: hasher.combine(value)
        }
    }
}
