/// The exit codes of the tool.
enum ExitStatus: Int32, CaseIterable {
    case success = 0
    case nothingFound = 1
    case usage = 2
    case cannotOpen = 3
    case failure = 4
    case interrupted = 130
    case closedOutput = 141

    /// The meaning of the code.
    var meaning: String {
        switch self {
        case .success: "success"
        case .nothingFound: "nothing was found, a check found a difference or damage, or an import left records out"
        case .usage: "invalid arguments, such as an unknown entity or an invalid condition"
        case .cannotOpen: "the store cannot be opened: it does not exist, is not a store, is in use, or its server does not respond"
        case .failure: "the operation failed"
        case .interrupted: "interrupted by Ctrl-C, or 128 and the number of another signal"
        case .closedOutput: "the reader of the output has closed it"
        }
    }

    /// The section of the help that lists the codes.
    static var help: String {
        "EXIT CODES\n"
            + allCases.map { "  \($0.rawValue)\(String(repeating: " ", count: 5 - "\($0.rawValue)".count))\($0.meaning)" }.joined(
                separator: "\n")
            + "\n\nA command that fails or is interrupted leaves nothing half done, except that import --batch keeps what it has committed, and convert a target that the same command continues."
    }
}
