extension JSONParser {
    /// Parses a field name and the colon after it.
    @inline(__always)
    func name(_ cursor: inout JSONCursor, _ current: inout Container) throws(JSONStop) {
        guard cursor.byte == UInt8(ascii: "\"") else { throw cursor.unexpected("a field name in quotes") }
        let start = cursor.index &+ 1
        let stop = ByteScan.plainStringEnd(cursor.bytes, start, cursor.end)
        if stop < cursor.end, cursor.bytes[stop] == UInt8(ascii: "\""), current.names == nil,
            let next = tree.child(
                of: current.node.unsafelyUnwrapped, UnsafeRawBufferPointer(start: cursor.bytes + start, count: stop &- start))
        {
            current.node = next
            cursor.index = stop &+ 1
        } else {
            try newName(&cursor, &current)
        }
        try cursor.skipWhitespace()
        guard cursor.byte == UInt8(ascii: ":") else { throw cursor.unexpected("':' after a field name") }
        cursor.index &+= 1
    }

    /// Parses a name that the tree does not contain at this position.
    @inline(never)
    private func newName(_ cursor: inout JSONCursor, _ current: inout Container) throws(JSONStop) {
        let start = cursor.index
        let hadPending = pending != nil
        let name = try string(&cursor, current)
        // An error in the name itself is attributed to this name.
        if !hadPending, pending != nil { pending?.field = path(of: name) }
        let raw = UnsafeRawBufferPointer(start: cursor.bytes + start + 1, count: cursor.index - start - 2)
        if let names = current.names {
            if !names.append(name) { duplicate(name, start) }
            return
        }
        let node = current.node.unsafelyUnwrapped
        let path = node.path
        if path.contains(name) {
            duplicate(name, start)
        } else if name.utf8.elementsEqual(raw), let child = tree.add(name, raw, to: node) {
            current.node = child
            return
        }
        let names = LooseNames(path)
        _ = names.append(name)
        current.names = names
        current.node = nil
    }

    private func duplicate(_ name: String, _ offset: Int) {
        guard pending == nil else { return }
        pending = Failure(code: .duplicateField, reason: "the name occurs twice in an object", offset: offset, field: path(of: name))
    }

    /// Returns the path of a field of the current container.
    private func path(of name: String) -> String {
        let parent = path(nil)
        return parent.isEmpty ? name : parent + "." + name
    }
}
