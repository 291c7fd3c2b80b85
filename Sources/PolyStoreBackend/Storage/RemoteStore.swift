/// Access to a store that is not a file. For stores of files the object layer uses the file system.
///
/// A backend of a server passes an instance to ``StoreConfiguration/init(engine:location:isShared:remote:open:)``. The store may be open or not, in this process or in others.
/// The errors contain no passwords.
public protocol RemoteStore: Sendable {
    /// Returns a name that is equal for every spelling of the store, and different for different stores of the engine. Called whenever a store is opened or looked up, so it should
    /// not wait for the server: ``StoreURL/serverLocation(defaultHost:defaultPort:namedBy:)`` suffices if a server has one name. If it throws, the location is used.
    func identity() throws -> String
    /// Returns whether the store exists.
    func exists() throws -> Bool
    /// Deletes the data of the store and nothing else. Has no effect if the store does not exist.
    /// - Throws: `unsupported` if the backend cannot do that, `readOnly` if the user may not, `busy` while others use the store.
    func erase() throws
}
