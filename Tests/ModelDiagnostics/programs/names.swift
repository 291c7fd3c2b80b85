import PolyStore

/// Names that the framework's own members could be mistaken for.
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
