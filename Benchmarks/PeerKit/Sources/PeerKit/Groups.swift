/// The workloads that a program's argument names: one, several with commas, or a group.
public func workloads(_ what: String, extra: [String] = []) -> [String] {
    let reads = ["W2", "W3", "W4", "W5", "W6", "W10"]
    switch what {
    case "load": return ["W1"] + reads
    case "read": return reads
    case "mutate": return ["W7", "W9", "W11", "W8", "W8b", "end"]
    case "open": return ["W12"]
    case "prepare": return ["W1"]
    case "extra": return extra
    default: return what.split(separator: ",").map(String.init)
    }
}
