import Foundation
import PolyStoreKernel

/// A ``ListObjectObserver`` that is also notified of sections.
public protocol ListSectionObserver<ListEntity>: ListObjectObserver {
    /// Called for each inserted section.
    /// - Parameters:
    ///   - monitor: The monitor of the list.
    ///   - section: The inserted section.
    ///   - sectionIndex: The new index.
    func listMonitor(_ monitor: ListMonitor<ListEntity>, didInsertSection section: ListSection, toSectionIndex sectionIndex: Int)
    /// Called for each deleted section.
    /// - Parameters:
    ///   - monitor: The monitor of the list.
    ///   - section: The deleted section, without objects.
    ///   - sectionIndex: The old index.
    func listMonitor(_ monitor: ListMonitor<ListEntity>, didDeleteSection section: ListSection, fromSectionIndex sectionIndex: Int)
}

extension ListSectionObserver {
    public func listMonitor(_ monitor: ListMonitor<ListEntity>, didInsertSection section: ListSection, toSectionIndex sectionIndex: Int) {}
    public func listMonitor(_ monitor: ListMonitor<ListEntity>, didDeleteSection section: ListSection, fromSectionIndex sectionIndex: Int) {
    }
}
