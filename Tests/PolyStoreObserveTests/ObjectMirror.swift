import PolyStore

/// The values of a monitored object, read only in the calls of its monitor. Records incorrect calls.
final class ObjectMirror: ObjectObserver {
    typealias ObjectEntity = Animal

    private(set) var values: [String: String]?
    private(set) var problems: [String] = []
    private(set) var isAnnounced = false
    /// A Boolean value that indicates whether the reported keys are compared with the values.
    private let comparesKeys: Bool
    var onCall: ((String) -> Void)?

    init(_ monitor: ObjectMonitor<Animal>, comparesKeys: Bool) {
        values = monitor.object.map(Self.values)
        self.comparesKeys = comparesKeys
    }

    static func values(_ animal: Animal) -> [String: String] {
        [
            "name": animal.name, "age": "\(animal.age)", "city": animal.city ?? "-", "owner": animal.owner.map { "\($0.objectID)" } ?? "-",
        ]
    }

    func objectMonitor(_ monitor: ObjectMonitor<Animal>, willUpdateObject object: Animal) {
        if isAnnounced { problems.append("\(monitor.objectID) will change twice") }
        isAnnounced = true
        if comparesKeys, let values, values != Self.values(object) {
            problems.append("\(monitor.objectID) changed before willUpdateObject")
        }
        onCall?("willUpdate")
    }

    func objectMonitor(_ monitor: ObjectMonitor<Animal>, didUpdateObject object: Animal, changedKeys: Set<String>) {
        if !isAnnounced { problems.append("\(monitor.objectID) changed without willUpdateObject") }
        isAnnounced = false
        let new = Self.values(object)
        if comparesKeys, let values {
            let changed = Set(new.keys.filter { new[$0] != values[$0] })
            if changed != changedKeys.intersection(new.keys) { problems.append("\(changed) changed, \(changedKeys) was reported") }
        }
        values = new
        onCall?("didUpdate")
    }

    func objectMonitor(_ monitor: ObjectMonitor<Animal>, didDeleteObject object: Animal) {
        if isAnnounced { problems.append("\(monitor.objectID) was announced to change and deleted") }
        values = nil
        onCall?("didDelete")
    }
}
