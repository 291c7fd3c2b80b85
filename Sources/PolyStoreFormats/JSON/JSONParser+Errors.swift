extension JSONParser {
    /// Records an error that does not end the parse. Only the first one is kept.
    func soft(_ code: RecordError.Code, _ reason: String, _ offset: Int, _ current: Container) {
        guard pending == nil else { return }
        pending = Failure(code: code, reason: reason, offset: offset, field: path(current))
    }

    /// Returns the path of the current value, such as `address.lines[2]`; nil at the root.
    func path(_ current: Container) -> String? {
        let text = path(Optional(current))
        return text.isEmpty ? nil : text
    }

    /// - Parameter current: the innermost container; nil for the path of that container itself.
    func path(_ current: Container?) -> String {
        var text = ""
        // The first element represents the position of the whole value.
        var containers = Array(outer.dropFirst())
        if let current, current.start >= 0 { containers.append(current) }
        for (position, container) in containers.enumerated() {
            guard container.isObject else {
                let next = position + 1 < containers.count ? containers[position + 1].start : values.count
                text += "[\(next - container.start)]"
                continue
            }
            guard let name = container.names?.list.last ?? container.node.flatMap({ $0.depth > 0 ? $0.name : nil }) else { continue }
            text += text.isEmpty ? name : "." + name
        }
        return text
    }
}
