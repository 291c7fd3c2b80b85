/// One operation of a random program. Objects are named by the numbers of the operations that create them, so that a program remains valid if operations
/// are removed: what names an object that was not created does nothing.
enum GraphOperation: Hashable, Sendable, CustomStringConvertible {
    enum Kind: String, CaseIterable, Sendable {
        /// Committed at its end.
        case perform
        /// Committed in its body.
        case synchronous
        /// Outside the write queue.
        case unsafe
        /// The same with undo.
        case undoable
    }

    /// An object in a condition.
    enum Target: Hashable, Sendable {
        case own(Int)
        /// The object with a row id in another stack.
        case foreign(Int)
    }

    /// The form of a condition on a to-one relationship.
    enum Form: String, CaseIterable, Sendable { case equal, unequal, oneOf, format, formatUnequal, formatIn, object }

    case begin(Kind)
    case end(commits: Bool)
    case commit
    case beginChild
    case endChild(commits: Bool)

    case create(Int, GraphKind, store: Int)
    case delete(Int, byID: Bool)
    case set(Int, attribute: Int, Int)
    case change(Int, GraphRelationship, GraphChange, [Int], isInPlace: Bool)
    /// Relates objects by their ids after an earlier commit has deleted at least one of them; in a child, or in a transaction of its own.
    case relateGone(Int, GraphRelationship, Int)
    /// Releases the objects that the interpreter keeps.
    case release

    case flush, undo, redo, refresh
    /// Changes by another transaction.
    case otherSet(Int, attribute: Int, Int)
    case otherCreate(Int, GraphKind, store: Int)
    case otherDelete(Int)

    /// Fetches the objects whose relationship leads to one of the targets, in one store or in both.
    case fetch(GraphRelationship, Form, [Target], store: Int?)
    case batchUpdate(GraphRelationship, Target, store: Int, Int)
    /// Fetches or creates a project with an owner and a name.
    case fetchOrCreate(Int, owner: Target, store: Int, Int)

    var description: String {
        func list(_ objects: [Int]) -> String { "[" + objects.map { "#\($0)" }.joined(separator: " ") + "]" }
        switch self {
        case .begin(let kind): return "begin \(kind)"
        case .end(let commits): return commits ? "end" : "discard"
        case .commit: return "commit"
        case .beginChild: return "child"
        case .endChild(let commits): return commits ? "commit child" : "discard child"
        case .create(let number, let kind, let store): return "#\(number) = \(kind) in \(store == 0 ? "A" : "B")"
        case .delete(let number, let byID): return "delete #\(number)\(byID ? " by id" : "")"
        case .set(let number, let attribute, let value): return "#\(number).\(attribute) = \(value)"
        case .change(let number, let relationship, let change, let targets, let isInPlace):
            return "#\(number).\(relationship) \(change) \(list(targets))\(isInPlace ? " in place" : "")"
        case .relateGone(let number, let relationship, let target): return "relate gone #\(number).\(relationship) = #\(target)"
        case .release: return "release"
        case .flush: return "flush"
        case .undo: return "undo"
        case .redo: return "redo"
        case .refresh: return "refresh"
        case .otherSet(let number, let attribute, let value): return "other: #\(number).\(attribute) = \(value)"
        case .otherCreate(let number, let kind, let store): return "other: #\(number) = \(kind) in \(store == 0 ? "A" : "B")"
        case .otherDelete(let number): return "other: delete #\(number)"
        case .fetch(let relationship, let form, let targets, let store):
            return "fetch \(relationship) \(form) \(targets) in \(store.map { $0 == 0 ? "A" : "B" } ?? "both")"
        case .batchUpdate(let relationship, let target, let store, let value):
            return "batchUpdate \(relationship) == \(target) in \(store == 0 ? "A" : "B"): \(value)"
        case .fetchOrCreate(let number, let owner, let store, let value):
            return "#\(number) = fetchOrCreate owner == \(owner), name == \(value) in \(store == 0 ? "A" : "B")"
        }
    }
}
