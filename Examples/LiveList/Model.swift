import PolyStore

@Model
final class Train {
    @Attribute(.unique) var number: Int
    var destination: String = ""
    /// Minutes after midnight.
    @Attribute(.indexed) var departure: Int = 0
    var delay: Int = 0
    var platform: String = ""
}

extension Train {
    /// The departure with the delay, as hours and minutes.
    var expected: String {
        let minutes = departure + delay
        return "\(minutes / 60 % 24 < 10 ? "0" : "")\(minutes / 60 % 24):\(minutes % 60 < 10 ? "0" : "")\(minutes % 60)"
    }
}

let timetable = Schema("Timetable 1", Train.self)
