import PolyStoreConditions
import Synchronization

/// The names of the variables of closures on related objects.
///
/// A variable has a name of its own while the closures run, so that a column that is used outside of its closure has no value. In the complete condition, order or
/// selection, variables are numbered in order of appearance, so that equal closures make equal clauses.
struct VariableNames {
    /// The number of variables that were made in the process.
    private static let made = Atomic(0)

    /// Returns a variable that no other closure has.
    static func new() -> String { "\(PropertyPath.closurePrefix)\(made.wrappingAdd(1, ordering: .relaxed).newValue)" }

    /// The number of variables that were made until now. If it is equal before and after a closure, the closure has made none.
    static var count: Int { made.load(ordering: .relaxed) }

    private var names: [String: String] = [:]

    private func renamed(_ path: PropertyPath) -> PropertyPath {
        guard let name = path.variable.flatMap({ names[$0] }) else { return path }
        var path = path
        path.variable = name
        return path
    }

    fileprivate mutating func renamed(_ condition: Condition) -> Condition { condition.mapped({ renamed($0) }, { renamed($0) }) }

    fileprivate mutating func renamed(_ operand: Operand) -> Operand {
        switch operand {
        case .path(let path): return .path(renamed(path))
        case .subquery(let path, let variable, let condition, let keys):
            let start = renamed(path)
            let name = "related\(names.count + 1)"
            names[variable] = name
            defer { names[variable] = nil }
            return .subquery(start, variable: name, renamed(condition), keys: keys)
        default: return operand.mapped({ renamed($0) }, { renamed($0) })
        }
    }
}

extension ColumnCondition {
    /// Returns the condition with numbered variables.
    /// - Parameter before: The number of variables that were made in the process before the closure of the condition ran.
    func numbered(_ before: Int) -> ColumnCondition {
        if VariableNames.count == before { return self }
        var names = VariableNames()
        return ColumnCondition(names.renamed(condition), root: root, levels: levels, error: error)
    }
}

extension Operand {
    /// The value with numbered variables.
    var withNumberedVariables: Operand {
        if VariableNames.count == 0 { return self }
        var names = VariableNames()
        return names.renamed(self)
    }
}
