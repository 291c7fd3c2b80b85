import Foundation
import PolyStore

/// Draws the list in the terminal, or prints its changes.
@MainActor
final class Board: @preconcurrency ListSectionObserver {
    typealias ListEntity = Train

    private let isPlain: Bool
    private(set) var changeCount = 0
    /// The trains of the last change.
    private var marks: [Int: String] = [:]

    init(isPlain: Bool) { self.isPlain = isPlain }

    func draw(_ monitor: ListMonitor<Train>) {
        var text = isPlain ? "" : "\u{1B}[2J\u{1B}[H"
        for section in monitor.sections {
            text += "\(section.name)\n"
            for train in section.range.map({ monitor[$0] }) { text += "  \(marks[train.number] ?? " ") \(line(train))\n" }
        }
        text += "\(monitor.count) trains, \(changeCount) changes\n"
        FileHandle.standardOutput.write(Data(text.utf8))
    }

    private func line(_ train: Train) -> String {
        let destination = train.destination.padding(toLength: 12, withPad: " ", startingAt: 0)
        return "\(train.expected)  \(destination) \(train.number)  platform \(train.platform)\(train.delay > 0 ? "  +\(train.delay)" : "")"
    }

    private func note(_ mark: String, _ train: Train, _ words: String) {
        marks[train.number] = mark
        if isPlain { FileHandle.standardOutput.write(Data("\(mark) \(words) \(line(train))\n".utf8)) }
    }

    func listMonitorWillChange(_ monitor: ListMonitor<Train>) { marks = [:] }

    func listMonitor(_ monitor: ListMonitor<Train>, didInsertObject train: Train, toIndexPath indexPath: IndexPath) {
        note("+", train, "new")
    }

    func listMonitor(_ monitor: ListMonitor<Train>, didDeleteObject train: Train, fromIndexPath indexPath: IndexPath) {
        if isPlain { FileHandle.standardOutput.write(Data("- gone from \(indexPath[0]), \(indexPath[1])\n".utf8)) }
    }

    func listMonitor(_ monitor: ListMonitor<Train>, didUpdateObject train: Train, atIndexPath indexPath: IndexPath) {
        note("*", train, "changed")
    }

    func listMonitor(_ monitor: ListMonitor<Train>, didMoveObject train: Train, fromIndexPath: IndexPath, toIndexPath: IndexPath) {
        note("~", train, "moved")
    }

    func listMonitorDidChange(_ monitor: ListMonitor<Train>) {
        changeCount += 1
        if !isPlain { draw(monitor) }
    }
}
