/// The workloads that a program's argument names: workloads and groups, separated by commas.
public func workloads(_ what: String, extra: [String] = []) -> [String] {
    let reads = ["W2", "W3", "W4", "W5", "W6", "W10"]
    return what.split(separator: ",").flatMap { name in
        switch name {
        case "load": ["W1"] + reads
        case "read": reads
        case "mutate": ["W7", "W9", "W11", "W8", "W8b", "end"]
        case "open": ["W12"]
        case "extra": extra
        default: [String(name)]
        }
    }
}
