import PolyStore

@Model
final class Log {
    var text: String = ""
    #if DEBUG
        var trace: String = ""  // error: cannot know which branch of #if is compiled
    #else
        var code: Int = 0  // error: cannot know which branch of #if is compiled
        #if os(Linux)
            var host: String?  // error: cannot know which branch of #if is compiled
        #endif
    #endif
    #if DEBUG
        @Transient var isShown: Bool = false
        static let limit = 3
        var summary: String { text }
        func write() {}
    #endif
}
