import Foundation
import PolyStoreBackend
import PolyStoreKernel

/// The problems of a resumable import, stored with its position so that the report of a later run contains them.
///
/// A store limits the length of a value, so the problems are distributed over several: each batch rewrites only the last one and adds others.
struct StoredImportProblems {
    /// The maximum number of values: the number keeps their names as short as that of the position.
    private static let mostValues = 1000
    private static let mostBytes = 60_000
    private static let longestText = 4_000
    /// The maximum number of problems of a value.
    private static let mostProblems = 64

    /// The number of values.
    private(set) var count = 0
    /// The problems of the last value.
    private var last: [ImportProblem] = []
    private var lastBytes = 0

    /// Returns the name of a value, whose prefix is at most as long as that of the position.
    static func name(_ index: Int, _ resumeName: String) -> String { "\(NamedValue.reservedPrefix)ip.\(index).\(resumeName)" }

    /// Reads the values of an earlier run.
    /// - Parameter value: Returns the value at an index.
    /// - Returns: The problems. Those of an unreadable value are omitted.
    mutating func load(_ count: Int, value: (Int) throws -> [UInt8]?) rethrows -> [ImportProblem] {
        var all: [ImportProblem] = []
        for index in 0..<max(0, min(count, Self.mostValues)) {
            let bytes = try value(index) ?? []
            last = (try? JSONDecoder().decode([ImportProblem].self, from: Data(bytes))) ?? []
            lastBytes = bytes.count
            all += last
        }
        self.count = count
        return all
    }

    /// Adds problems.
    /// - Returns: The changed values, by index.
    mutating func append(_ problems: some Sequence<ImportProblem>) throws -> [Int: [UInt8]] {
        var changed: [Int: [ImportProblem]] = [:]
        for problem in problems {
            let problem = problem.shortened(to: Self.longestText)
            let size = try JSONEncoder().encode(problem).count + 1
            if count == 0 || last.count == Self.mostProblems || lastBytes + size > Self.mostBytes {
                guard count < Self.mostValues else { break }
                count += 1
                (last, lastBytes) = ([], 2)
            }
            last.append(problem)
            lastBytes += size
            changed[count - 1] = last
        }
        return try changed.mapValues { [UInt8](try JSONEncoder().encode($0)) }
    }
}

extension ImportProblem {
    /// Returns the problem with texts of at most a number of bytes.
    fileprivate func shortened(to count: Int) -> ImportProblem {
        func shortened(_ text: String) -> String {
            text.utf8.count <= count ? text : String(decoding: text.utf8.prefix(count), as: UTF8.self) + "…"
        }
        return ImportProblem(
            source: source.map(shortened), record: record, line: line, field: field.map(shortened), reason: shortened(reason),
            underlying: underlying.map(shortened), isRecoverable: isRecoverable)
    }
}
