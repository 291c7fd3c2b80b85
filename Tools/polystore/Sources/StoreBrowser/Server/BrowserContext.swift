import Hummingbird

/// The values of a request that are not in its head.
struct BrowserContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The port of the connection on this side; 0 if it is not known.
    let port: Int

    init(source: ApplicationRequestContextSource) {
        coreContext = .init(source: source)
        port = source.channel.localAddress?.port ?? 0
    }
}
