internal import Foundation
internal import PolyStoreBackend

/// Runs a closure in a child created with `fork`, and waits for the child to exit. Swift does not import `fork`, because few calls are safe in such a child.
/// - Returns: The exit status of the child: 0.
package func forked(_ body: () -> Void) throws -> Int32 {
    typealias Fork = @convention(c) () -> Int32
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "fork") else { throw StoreError(.unsupported, "The system has no fork function.") }
    let child = unsafeBitCast(symbol, to: Fork.self)()
    if child == 0 {
        body()
        _exit(0)
    }
    guard child > 0 else { throw StoreError(.io, "No child could be made.", engineCode: Int(errno)) }
    var status: Int32 = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    return status
}
