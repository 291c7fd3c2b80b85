internal import Foundation
internal import PolyStoreBackend

/// Runs something in a child that is made with `fork`, which ends with it, and waits for that. Swift hides the call, as hardly anything may be done in
/// such a child.
/// - Returns: what the child ended with: 0.
package func forked(_ body: () -> Void) throws -> Int32 {
    typealias Fork = @convention(c) () -> Int32
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "fork") else { throw StoreError(.unsupported, "There is no fork.") }
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
