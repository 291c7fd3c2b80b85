import Foundation
import PolyStoreBackend
import PolyStoreCore
import PolyStorePostgreSQL
import TestModels

// namespaces-child follow URL COUNT        prints `ready`, and a line for each state of a live list of people: the number of people and the time, until there are COUNT
// namespaces-child write URL COUNT PAUSE   commits COUNT transactions that insert a person, with pauses of PAUSE milliseconds, and prints the number and the time of the return of each
// namespaces-child serve URL 0             prints `ready`, and answers each line of its input: `read`, `open` and `list COUNT` with a number of people (`list` waits until the live list shows
//                                          COUNT), `write EMAIL` with `works`, and each of them with the code of an error
//
// Times are those of `CLOCK_MONOTONIC` in nanoseconds, which all namespaces of a machine share.

let arguments = CommandLine.arguments
guard arguments.count >= 4, let count = Int(arguments[3]) else {
    print("usage: namespaces-child follow|write|serve URL COUNT [PAUSE]")
    exit(2)
}
let stack = try DataStack(Schema("Company 1", Person.self, Department.self, Project.self))
try stack.addStore(.postgreSQL(arguments[2]))

/// Writes a line without buffering.
func write(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

switch arguments[1] {
case "follow":
    var isReady = false
    for try await people in stack.snapshots(of: From<Person>()) {
        if !isReady { write("ready") }
        isReady = true
        write("\(people.count) \(DispatchTime.now().uptimeNanoseconds)")
        if people.count == count { break }
    }
case "write":
    let pause = arguments.count > 4 ? UInt32(arguments[4]) ?? 20 : 20
    for number in 1...max(1, count) {
        try await stack.perform { transaction in
            let person = try transaction.create(Into<Person>())
            (person.email, person.age) = ("\(ProcessInfo.processInfo.processIdentifier)-\(number)@example.com", number)
        }
        write("\(number) \(DispatchTime.now().uptimeNanoseconds)")
        usleep(pause * 1000)
    }
case "serve":
    Server(stack, arguments[2]).run()
default:
    print("unknown mode \(arguments[1])")
    exit(2)
}
