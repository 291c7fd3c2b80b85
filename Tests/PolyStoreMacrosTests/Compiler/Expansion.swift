import Foundation

/// The code that a macro generates in one place, as the compiler reads it.
struct Expansion: Sendable {
    enum Role: String {
        case member, memberAttribute, `extension`, accessor, peer, freestanding
    }

    let role: Role
    let macro: String
    /// The declaration that the macro is attached to, such as `Person.name`. Empty for a freestanding macro.
    let declaration: String
    let text: String

    /// Returns the expansions in the compiler's output. Each begins with its mangled name and ends with a line of hyphens.
    static func parse(_ output: String) -> [Expansion] {
        let separator = String(repeating: "-", count: 30)
        var found: [Expansion] = []
        var lines = output.split(separator: "\n", omittingEmptySubsequences: false)[...]
        while let line = lines.popFirst() {
            guard line.hasPrefix("@__swiftmacro_"), lines.first.map({ $0 == separator }) ?? false else { continue }
            lines = lines.dropFirst()
            let text = lines.prefix { $0 != separator }
            lines = lines.dropFirst(text.count)
            let expansion = Expansion(
                named: String(line), text: text.joined(separator: "\n").trimmingCharacters(in: .whitespacesAndNewlines))
            if let expansion { found.append(expansion) }
        }
        return found
    }

    /// - Parameter name: A mangled name, which means "accessor macro @_PersistedAttribute expansion #1 of name in Module.Person" or
    ///   "freestanding macro expansion #1 of Index in module …".
    private init?(named name: String, text: String) {
        self.text = text
        guard let readable = demangled(name.hasSuffix(".swift") ? String(name.dropLast(6)) : name) else { return nil }
        if let match = readable.wholeMatch(of: /(\w+) macro @(\w+) expansion #\d+ of (.+?) in \w+(?:\.(.+))?/) {
            guard let role = Role(rawValue: String(match.1)) else { return nil }
            self.role = role
            macro = String(match.2)
            declaration = (match.4.map { "\($0)." } ?? "") + match.3
        } else if let match = readable.prefixMatch(of: /freestanding macro expansion #\d+ of (\w+)/) {
            role = .freestanding
            macro = String(match.1)
            declaration = ""
        } else {
            return nil
        }
    }
}

/// Returns the readable form of a mangled name, or `nil` if it is not a mangled name.
private func demangled(_ name: String) -> String? {
    guard let readable = swiftDemangle(name, name.utf8.count, nil, nil, 0) else { return nil }
    defer { free(readable) }
    return String(cString: readable)
}

/// A function of Swift's runtime.
@_silgen_name("swift_demangle")
private func swiftDemangle(
    _ name: UnsafePointer<CChar>, _ length: Int, _ buffer: UnsafeMutablePointer<CChar>?, _ size: UnsafeMutablePointer<Int>?, _ flags: UInt32
) -> UnsafeMutablePointer<CChar>?
