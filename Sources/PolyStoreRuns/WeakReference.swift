/// A reference that does not keep its object alive.
package final class WeakReference<Object: AnyObject & Sendable>: Sendable {
    package weak let object: Object?

    package init(_ object: Object) { self.object = object }
}
