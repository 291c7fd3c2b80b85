// Writes a store while faults are injected below it, and checks the result.
//
//     fault-child write ENGINE STORE LAST      commits up to number LAST; writes acknowledgements to the file $FAULTS_MARKS, or to the standard output
//     fault-child leave ENGINE STORE LAST      the same, and exits without closing the store
//     fault-child replace ENGINE STORE LAST    the same as write, and then resets the store for another schema
//     fault-child migrate ENGINE STORE LAST    the same as write, and then migrates the store to another schema
//     fault-child compact ENGINE STORE LAST    the same as write, and compacts the store after every fifth commit
//     fault-child reindex ENGINE STORE LAST    the same as write, and drops the full-text indexes or builds them in the background after every third commit
//     fault-child check ENGINE                 checks images; each line of the input is a path, the floor, the ceiling and the phase (see Checker)
//     fault-child damage ENGINE                the same for damaged images: every result is correct or an error
//     fault-child reset ENGINE STORE ID        opens with a later schema and a reset, and commits an object; try-reset does not wait for other processes
//     fault-child check-reset ENGINE STORE ID… checks that the store of the later schema has exactly these objects
//     fault-child hold ENGINE STORE            keeps the store open, and uses it after a line of the input
//     fault-child clock ENGINE STORE           waits for transactions, with and without success, while the preload library moves the clock
//     fault-child open ENGINE STORE TIMES      opens, reads and closes repeatedly

import Foundation

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { fail("see the top of its source") }

func number(_ position: Int) -> Int {
    guard position < arguments.count, let number = Int(arguments[position]) else { fail("argument \(position) must be a number") }
    return number
}

switch arguments[1] {
case "write": Writer(engine: arguments[2], path: arguments[3], last: number(4)).run()
case "leave": Writer(engine: arguments[2], path: arguments[3], last: number(4), leavesOpen: true).run()
case "replace": Writer(engine: arguments[2], path: arguments[3], last: number(4), resets: true).run()
case "migrate": Writer(engine: arguments[2], path: arguments[3], last: number(4), migrates: true).run()
case "compact": Writer(engine: arguments[2], path: arguments[3], last: number(4), compacts: true).run()
case "reindex": Writer(engine: arguments[2], path: arguments[3], last: number(4), reindexes: true).run()
case "check": Checker.run(arguments[2])
case "damage": Damage.run(arguments[2])
case "reset": Races.reset(arguments[2], arguments[3], Int64(number(4)), waits: true)
case "try-reset": Races.reset(arguments[2], arguments[3], Int64(number(4)), waits: false)
case "check-reset": say(Races.verdict(arguments[2], arguments[3], arguments.dropFirst(4).compactMap { Int64($0) }))
case "hold": Races.hold(arguments[2], arguments[3])
case "clock": Clock(engine: arguments[2], path: arguments[3]).run()
case "open": Races.openMany(arguments[2], arguments[3], number(4))
default: fail("unknown mode \(arguments[1])")
}
