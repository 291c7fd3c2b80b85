/// The steps of a key path as text. Equal texts are the same property: a name, or the address of its getter if the executable contains no names.
///
/// The only way to decompose a key path in Swift is its description: `\Person.department?.title` or, without names,
/// `\Person.<computed 0x55ac3fd5b490 (Optional<Department>)>?.<computed 0x55ac3fd5b550 (String)>`. Optional chaining and forced unwrapping are not steps.
package struct KeyPathSteps {
    /// The steps, from the root on.
    package private(set) var names: [String] = []

    /// Creates the steps of a key path.
    package init(_ path: AnyKeyPath) {
        // The description begins with the root type, which may contain dots.
        let root = "\\\(type(of: path).rootType)"
        let description = path.debugDescription
        guard description.hasPrefix(root) else { return }
        var step = ""
        var depth = 0
        var previous: Character = " "
        // Names with other characters than those of plain identifiers are in backticks.
        var isQuoted = false
        func end() {
            if !step.isEmpty { names.append(step) }
            step = ""
        }
        for character in description.dropFirst(root.count) {
            if character == "`" { isQuoted.toggle() }
            guard !isQuoted, character != "`" else {
                step.append(character)
                continue
            }
            switch character {
            case "<", "(", "[": depth += 1
            case ">" where previous == "-": break
            case ">", ")", "]": depth -= 1
            default: break
            }
            previous = character
            if depth == 0, character == "." || character == "?" || character == "!" { end() } else { step.append(character) }
        }
        end()
        if names == ["self"] { names = [] }
    }
}
