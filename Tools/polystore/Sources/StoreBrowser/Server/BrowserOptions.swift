/// How a browser of a store listens and answers.
package struct BrowserOptions: Sendable {
    /// The name or address of the interface to listen on. Only loopback unless the user chooses another.
    package var host = "127.0.0.1"
    /// The port to listen on; 0 for one that is free.
    package var port = 0
    /// The time after which the queries of a request end.
    package var deadline = Duration.seconds(30)
    /// The time between the comments that are sent to pages that follow events.
    package var heartbeat = Duration.seconds(20)
    /// The token that every request must know.
    package var token = AccessToken()

    package init() {}
}
