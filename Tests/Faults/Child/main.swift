// Writes a store while faults are injected below it, and checks what is left.
//
//     fault-child write ENGINE STORE LAST      commits up to number LAST; acknowledgements go to the file $FAULTS_MARKS, or to the standard output
//     fault-child check ENGINE                 checks images; each line of the input is a path, the floor and the ceiling (see Checker)

import Foundation

let arguments = CommandLine.arguments
guard arguments.count >= 3 else { fail("see the top of its source") }

func number(_ position: Int) -> Int {
    guard position < arguments.count, let number = Int(arguments[position]) else { fail("argument \(position) must be a number") }
    return number
}

switch arguments[1] {
case "write": Writer(engine: arguments[2], path: arguments[3], last: number(4)).run()
case "check": Checker.run(arguments[2])
default: fail("there is no mode \(arguments[1])")
}
