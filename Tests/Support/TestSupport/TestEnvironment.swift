internal import Foundation

/// The environment variables that change what the tests do.
package enum TestEnvironment {
    /// Returns the value of a variable, or nil if it is not set.
    package static func text(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    /// Returns the value of a variable as a number, or nil if it is not set or not a number.
    package static func number(_ name: String) -> Int? { text(name).flatMap { Int($0) } }
}
