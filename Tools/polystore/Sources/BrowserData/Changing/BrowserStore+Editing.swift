import Foundation
import PolyStoreBackend
import PolyStoreCore

extension BrowserStore {
    /// The author of the browser's commits in the history.
    package static let author = "polystore browse"

    /// Returns the form of an object; nil if the object does not exist.
    /// - Throws: `storeNotFound` for an unknown entity, and the errors of the store.
    package func form(of object: ObjectReference) async throws -> ObjectForm? {
        let id = try stack.objectID(model(object.entity).name, rowID: object.rowID)
        return try await reading { [self] context in
            try context.fetchExisting(id).map { try FormReader(store: self, context: context).form($0) }
        }
    }

    /// Returns the form of a new object, with the default values of its entity. That of an abstract entity has no fields, and the entities to choose from.
    /// - Throws: `readOnly` if the store is not open for writing, `storeNotFound` for an unknown entity, and the errors of the store.
    package func form(creating entity: String) async throws -> ObjectForm {
        try checkWritable()
        let model = try model(entity)
        guard !model.isAbstract else {
            return ObjectForm(entity: entity, object: nil, title: entity, fields: [], seen: "", concreteEntities: model.concreteNames)
        }
        // Defaults such as the current time are those of an object, which is discarded.
        let form = try await stack.performDryRun(timeLimit: timeLimit) { [self] transaction in
            try FormReader(store: self, context: transaction).form(transaction.create(entity), isNew: true)
        }
        return form.result
    }

    /// Returns what a change would do: the values before and after it, the other objects that it changes, and the reasons for which the store would refuse it. Nothing is written.
    ///
    /// The change is applied in a transaction, which the store checks and reverts.
    /// - Throws: `readOnly` if the store is not open for writing, `storeNotFound` for an unknown entity, `timedOut`, `cancelled`, and the errors of the store.
    package func preview(_ edit: ObjectEdit) async throws -> EditOutcome {
        try checkWritable()
        let work = EditWork(store: self, edit: edit)
        let (result, refusal) = try await stack.performDryRun(timeLimit: timeLimit) { try work.run($0) }
        switch result {
        case .conflict(let conflict): return .conflict(conflict)
        case .changed(var preview, let id):
            preview.mistakes += Self.mistakes(of: refusal, id)
            return preview.mistakes.isEmpty ? .accepted(preview) : .refused(preview)
        }
    }

    /// Commits a change in one transaction, unless the object or the other objects that it changes have changed since the form and its preview.
    /// - Throws: As ``preview(_:)``; an error with the recovery `commitOutcomeUnknown` if the connection to a server ended during the commit.
    package func commit(_ edit: ObjectEdit) async throws -> EditOutcome {
        try checkWritable()
        let work = EditWork(store: self, edit: edit)
        do {
            let (preview, id) = try await stack.perform(sourceIdentifier: Self.author, timeLimit: timeLimit) { transaction in
                try Self.accepted(work.run(transaction), edit)
            }
            return .committed(Self.reference(edit, preview, id), preview)
        } catch let stopped as Stopped {
            return stopped.outcome
        } catch let error as StoreError where [.constraint, .notFound, .misuse, .invalidValue].contains(error.code) {
            // The change with the mistakes of its properties.
            let outcome = try await preview(edit)
            guard case .accepted(var preview) = outcome else { return outcome }
            preview.mistakes = Self.mistakes(of: error, nil)
            return .refused(preview)
        }
    }

    /// The end of a transaction that is not committed.
    private struct Stopped: Error { let outcome: EditOutcome }

    private static func accepted(_ result: EditWork.Result, _ edit: ObjectEdit) throws -> (ChangePreview, AnyObjectID?) {
        switch result {
        case .conflict(let conflict): throw Stopped(outcome: .conflict(conflict))
        case .changed(let preview, _) where !preview.mistakes.isEmpty: throw Stopped(outcome: .refused(preview))
        case .changed(let preview, let id):
            guard edit.confirmed == nil || edit.confirmed == preview.digest else {
                throw Stopped(outcome: .conflict(EditConflict(isDeleted: false, properties: [], preview: preview)))
            }
            return (preview, id)
        }
    }

    private static func reference(_ edit: ObjectEdit, _ preview: ChangePreview, _ id: AnyObjectID?) -> ObjectReference? {
        switch edit.action {
        case .update(let reference): return reference
        case .delete: return nil
        case .create(let entity): return id.map { ObjectReference(entity: entity, rowID: $0.rowID) }
        }
    }

    private func checkWritable() throws {
        guard isWritable else {
            throw StoreError(.readOnly, "\(name) is open for reading only. Start the browser with --write to change objects.")
        }
    }

    /// Returns the reasons of a refused commit, by property where they concern the object with an id.
    private static func mistakes(of error: StoreError?, _ id: AnyObjectID?) -> [ChangePreview.Mistake] {
        guard let error else { return [] }
        func property(_ entity: String?, _ rowID: Int64?, _ attribute: String?) -> String? {
            guard let id, rowID == nil || rowID == id.rowID, entity == nil || entity == id.entityName else { return nil }
            return attribute
        }
        guard error.violations.isEmpty else {
            return error.violations.map { violation in
                .init(
                    property: property(violation.entity, violation.rowID, violation.attribute), message: "\(violation.message).",
                    isDenial: violation.rule == .deny)
            }
        }
        // A unique index of several attributes names all of them.
        let names = (error.attribute ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        guard names.count > 1 else {
            return [.init(property: property(error.entity, error.rowID, error.attribute), message: error.message)]
        }
        return names.map { .init(property: property(error.entity, error.rowID, $0), message: error.message) }
    }
}
