import Foundation
import PeerKit

/// peer-grdb P4|P4b WORKLOAD,...|load|read|mutate|open FOLDER
@main
struct GRDBPeer {
    static func main() async throws {
        let started = Stamp()
        let arguments = CommandLine.arguments
        guard arguments.count >= 4 else { preconditionFailure("usage: peer-grdb P4|P4b WORKLOAD,...|load|read|mutate|open FOLDER") }
        let path = "\(arguments[3])/\(arguments[1].lowercased()).sqlite"
        let names = workloads(arguments[2])
        if arguments[1] == "P4" {
            let peer = HandPeer("P4", path, started)
            for name in names { try await peer.run(name) }
        } else {
            let peer = CodablePeer("P4b", path, started)
            for name in names { try await peer.run(name) }
        }
    }
}
