import Foundation
import PostgreSQLServer

// Starts a server of PostgreSQL for the tests of another package, prints the URL of its database, and ends with its input. Exits with 2 if a server cannot be started.
do {
    let server = try PostgreSQLServer()
    FileHandle.standardOutput.write(Data((server.url() + "\n").utf8))
    while readLine() != nil {}
} catch {
    FileHandle.standardError.write(Data("\(error)\n".utf8))
    exit(2)
}
