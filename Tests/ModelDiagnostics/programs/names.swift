import PolyStore

/// Properties with the names of the framework's own members.
@Model
final class Task {
    var state: String = ""
    var load: Int = 0
    var encode: Bool = false
    var entity: String?
    var entityName: String?
    var properties: [String] = []
    var hierarchy: Int = 0
    var fire: Int = 0
    var storedState: Int = 0
    var key: Int = 0
    var context: String = ""
    @Relationship var toOne: Task?
    @Relationship(inverse: "toOne") var members: Set<Task>
}

func change(_ task: Task) -> String {
    task.state = "done"
    task.load += 1
    return task.state
}
