import PolyStoreCore

/// A naive model of two sides that change the same objects, and of the merge of their changes by a policy. It knows nothing of records, faults and backends.
enum MergeModel {
    enum Kind: Int, CaseIterable {
        case person, department, project, playlist, track

        /// The to-one relationships, in the order of the declaration.
        var ones: [One] {
            switch self {
            case .person: [.department, .spouse]
            case .project: [.owner, .parent]
            case .track: [.playlist]
            case .department, .playlist: []
            }
        }

        var attributeCount: Int { self == .person || self == .department ? 2 : 1 }
    }

    enum One: Int, CaseIterable {
        case department, spouse, owner, parent, playlist

        var target: Kind {
            switch self {
            case .department, .owner: .department
            case .spouse: .person
            case .parent: .project
            case .playlist: .playlist
            }
        }
    }

    /// A to-many relationship that is not derived from a to-one relationship.
    enum Many: Int, CaseIterable { case friends, tags, extras }

    struct Key: Hashable, Comparable, CustomStringConvertible {
        let kind: Kind
        let rowID: Int64

        static func < (left: Key, right: Key) -> Bool { (left.kind.rawValue, left.rowID) < (right.kind.rawValue, right.rowID) }
        var description: String { "\(kind) \(rowID)" }
    }

    enum Field: Hashable {
        case value(Int)
        case one(One)
    }

    struct Object: Equatable {
        var values: [Int]
        var ones: [One: Key] = [:]

        func equals(_ other: Object, _ field: Field) -> Bool {
            switch field {
            case .value(let index): values[index] == other.values[index]
            case .one(let one): ones[one] == other.ones[one]
            }
        }

        mutating func copy(_ field: Field, from other: Object) {
            switch field {
            case .value(let index): values[index] = other.values[index]
            case .one(let one): ones[one] = other.ones[one]
            }
        }
    }

    struct End: Hashable {
        let owner: Key
        let many: Many
    }

    /// All objects. `tracks` and `extras` are ordered.
    struct State: Equatable {
        var objects: [Key: Object] = [:]
        var links: [End: [Key]] = [:]
        var tracks: [Key: [Key]] = [:]

        func keys(_ kind: Kind) -> [Key] { objects.keys.filter { $0.kind == kind }.sorted() }
        func members(_ end: End) -> [Key] { links[end] ?? [] }
        func sources(_ one: One, _ target: Key) -> [Key] { objects.filter { $0.value.ones[one] == target }.map(\.key).sorted() }

        /// One line for each object, with everything that can be read of it.
        func lines(sorted isSorted: Bool = false) -> [String] {
            func list(_ keys: [Key]) -> String { "\((isSorted ? keys.sorted() : keys).map(\.rowID))" }
            return objects.sorted { $0.key < $1.key }.map { key, object in
                var line = "\(key): \(object.values)"
                for one in key.kind.ones { line += " \(one) \(object.ones[one].map { "\($0.rowID)" } ?? "-")" }
                switch key.kind {
                case .person: line += " friends \(members(End(owner: key, many: .friends)).sorted().map(\.rowID))"
                case .department:
                    line += " people \(sources(.department, key).map(\.rowID)) projects \(sources(.owner, key).map(\.rowID))"
                    line += " tags \(members(End(owner: key, many: .tags)).sorted().map(\.rowID))"
                case .playlist: line += " tracks \(list(tracks[key] ?? [])) extras \(list(members(End(owner: key, many: .extras))))"
                case .project, .track: break
                }
                return line
            }
        }
    }

    /// The order that a side gives to a list.
    enum Order {
        case appended([Key])
        case whole([Key])

        mutating func add(_ key: Key) {
            switch self {
            case .appended(let keys): if !keys.contains(key) { self = .appended(keys + [key]) }
            case .whole(let keys): if !keys.contains(key) { self = .whole(keys + [key]) }
            }
        }

        mutating func remove(_ key: Key) {
            switch self {
            case .appended(let keys): self = .appended(keys.filter { $0 != key })
            case .whole(let keys): self = .whole(keys.filter { $0 != key })
            }
        }

        func applied(to keys: [Key]) -> [Key] {
            switch self {
            case .appended(let last): keys.filter { !last.contains($0) } + last.filter(keys.contains)
            case .whole(let wanted): wanted.filter(keys.contains) + keys.filter { !wanted.contains($0) }
            }
        }

        var isEmpty: Bool { if case .appended(let keys) = self { keys.isEmpty } else { false } }
    }

    /// An ordered list: the tracks or the extras of a playlist.
    struct List: Hashable {
        let owner: Key
        let isTracks: Bool
    }

    /// What a side has changed since it began.
    struct Changes {
        /// The values of changed and deleted objects when they were read.
        var bases: [Key: Object] = [:]
        var edits: [Key: Set<Field>] = [:]
        /// The changed objects, in the order of their first change.
        var order: [Key] = []
        var inserted: [Key] = []
        /// The deleted objects with their last values.
        var deleted: [Key: Object] = [:]
        var added: [End: Set<Key>] = [:]
        var removed: [End: Set<Key>] = [:]
        var orders: [List: Order] = [:]
        /// The deleted departments, whose people deny the deletion.
        var denials: Set<Key> = []
    }

    enum Failure: Error { case conflict, constraint }
}

extension MergeModel {
    /// The store or a transaction.
    struct Side {
        var state: State
        var changes = Changes()

        init(_ state: State) { self.state = state }

        // MARK: Changes

        private mutating func edit(_ key: Key, _ field: Field) {
            guard let object = state.objects[key] else { return }
            if !changes.inserted.contains(key), changes.bases[key] == nil { changes.bases[key] = object }
            if changes.edits[key] == nil { changes.order.append(key) }
            changes.edits[key, default: []].insert(field)
        }

        mutating func create(_ key: Key) {
            state.objects[key] = Object(values: Array(repeating: 0, count: key.kind.attributeCount))
            changes.inserted.append(key)
        }

        mutating func set(_ key: Key, _ index: Int, _ value: Int) {
            edit(key, .value(index))
            state.objects[key]?.values[index] = value
        }

        mutating func set(_ key: Key, _ one: One, _ target: Key?) {
            let old = state.objects[key]?.ones[one]
            guard old != target else { return }
            edit(key, .one(one))
            state.objects[key]?.ones[one] = target
            moved(key, one, old, target)
        }

        /// Updates the inverse of a to-one relationship.
        fileprivate mutating func moved(_ key: Key, _ one: One, _ old: Key?, _ new: Key?) {
            switch one {
            case .playlist:
                if let old { leave(List(owner: old, isTracks: true), key) }
                if let new { append(List(owner: new, isTracks: true), key) }
            case .spouse:
                if let old, state.objects[old]?.ones[.spouse] == key { write(old, nil) }
                guard let new else { return }
                if let former = state.objects[new]?.ones[.spouse], former != key, state.objects[former]?.ones[.spouse] == new {
                    write(former, nil)
                }
                if state.objects[new]?.ones[.spouse] != key { write(new, key) }
            case .department, .owner, .parent: break
            }
        }

        private mutating func write(_ person: Key, _ spouse: Key?) {
            edit(person, .one(.spouse))
            state.objects[person]?.ones[.spouse] = spouse
        }

        private func members(_ list: List) -> [Key] {
            list.isTracks ? state.tracks[list.owner] ?? [] : state.members(End(owner: list.owner, many: .extras))
        }

        private mutating func setMembers(_ list: List, _ members: [Key]) {
            if list.isTracks { state.tracks[list.owner] = members } else { state.links[End(owner: list.owner, many: .extras)] = members }
        }

        private mutating func append(_ list: List, _ key: Key) {
            changes.orders[list, default: .appended([])].add(key)
            if !members(list).contains(key) { setMembers(list, members(list) + [key]) }
        }

        private mutating func leave(_ list: List, _ key: Key) {
            changes.orders[list]?.remove(key)
            setMembers(list, members(list).filter { $0 != key })
        }

        mutating func arrange(_ list: List, _ wanted: [Key]) {
            let before = members(list)
            for key in before where !wanted.contains(key) {
                if list.isTracks { set(key, .playlist, nil) } else { unlink(End(owner: list.owner, many: .extras), key) }
            }
            let added = wanted.filter { !before.contains($0) }
            for key in added {
                if list.isTracks { set(key, .playlist, list.owner) } else { link(End(owner: list.owner, many: .extras), key) }
            }
            if before.filter(wanted.contains) + added != wanted {
                changes.orders[list] = .whole(wanted)
                setMembers(list, wanted)
            }
        }

        mutating func replace(_ end: End, _ wanted: [Key]) {
            let before = state.members(end)
            for key in before where !wanted.contains(key) { unlink(end, key) }
            for key in wanted where !before.contains(key) { link(end, key) }
        }

        fileprivate mutating func link(_ end: End, _ key: Key) {
            addLink(end, key)
            if end.many == .friends { addLink(End(owner: key, many: .friends), end.owner) }
        }

        private mutating func addLink(_ end: End, _ key: Key) {
            changes.removed[end]?.remove(key)
            changes.added[end, default: []].insert(key)
            if end.many == .extras { return append(List(owner: end.owner, isTracks: false), key) }
            if !state.members(end).contains(key) { state.links[end, default: []].append(key) }
        }

        fileprivate mutating func unlink(_ end: End, _ key: Key) {
            removeLink(end, key)
            if end.many == .friends { removeLink(End(owner: key, many: .friends), end.owner) }
        }

        private mutating func removeLink(_ end: End, _ key: Key) {
            changes.added[end]?.remove(key)
            changes.removed[end, default: []].insert(key)
            if end.many == .extras { return leave(List(owner: end.owner, isTracks: false), key) }
            state.links[end]?.removeAll { $0 == key }
        }

        mutating func delete(_ keys: [Key]) {
            var work = keys
            while let key = work.popLast() {
                guard let object = state.objects[key] else { continue }
                if changes.inserted.contains(key) {
                    changes.inserted.removeAll { $0 == key }
                } else {
                    if changes.bases[key] == nil { changes.bases[key] = object }
                    changes.deleted[key] = object
                }
                changes.edits[key] = nil
                changes.order.removeAll { $0 == key }
                // The inverses, before the object itself disappears.
                if let spouse = object.ones[.spouse] { moved(key, .spouse, spouse, nil) }
                if let playlist = object.ones[.playlist] { leave(List(owner: playlist, isTracks: true), key) }
                for many in Many.allCases where Self.kind(many) == key.kind {
                    for member in state.members(End(owner: key, many: many)) { unlink(End(owner: key, many: many), member) }
                }
                for (end, members) in state.links where end.owner != key && members.contains(key) { unlink(end, key) }
                if key.kind == .playlist { for track in state.tracks[key] ?? [] { set(track, .playlist, nil) } }
                state.objects[key] = nil
                if key.kind == .department {
                    changes.denials.insert(key)
                    work += state.sources(.owner, key)
                }
                if key.kind == .project {
                    for source in state.sources(.parent, key) {
                        edit(source, .one(.parent))
                        state.objects[source]?.ones[.parent] = nil
                    }
                }
            }
        }

        private static func kind(_ many: Many) -> Kind {
            switch many {
            case .friends: .person
            case .tags: .department
            case .extras: .playlist
            }
        }

        // MARK: Merging

        private static func fields(_ kind: Kind) -> [Field] {
            (0..<kind.attributeCount).map { .value($0) } + kind.ones.map { .one($0) }
        }

        private struct Update {
            let key: Key
            let fields: Set<Field>
        }

        /// Applies the changes of another side.
        /// - Throws: `conflict`; this side is then unchanged.
        mutating func merge(_ mine: Side, _ policy: MergePolicy) throws {
            let (winsAll, wins) = (policy == .mineWins, policy == .mineWins || policy == .attributesMineWins)
            let isByAttribute = policy == .attributesMineWins || policy == .attributesStoreWins
            let changed = mine.changes
            var hasConflict = false
            var (updates, reinserted, deletions): ([Update], [Key], [Key]) = ([], [], [])
            for key in changed.order.sorted(by: { $0.kind.rawValue < $1.kind.rawValue }) where !changed.inserted.contains(key) {
                guard let edits = changed.edits[key], let base = changed.bases[key] else { continue }
                guard let now = state.objects[key] else {
                    hasConflict = true
                    if wins { reinserted.append(key) }
                    continue
                }
                let differing = Self.fields(key.kind).filter { !now.equals(base, $0) }
                if differing.isEmpty {
                    updates.append(Update(key: key, fields: edits))
                    continue
                }
                hasConflict = true
                if winsAll { updates.append(Update(key: key, fields: Set(Self.fields(key.kind)))) }
                if isByAttribute { updates.append(Update(key: key, fields: wins ? edits : edits.subtracting(differing))) }
            }
            for (key, _) in changed.deleted.sorted(by: { $0.key < $1.key }) {
                guard let now = state.objects[key], let base = changed.bases[key] else { continue }
                if now != base { hasConflict = true }
                if now == base || wins { deletions.append(key) }
            }
            let inserted = changed.inserted.sorted { $0.kind.rawValue < $1.kind.rawValue }
            let known = Set(state.objects.keys).union(inserted).union(reinserted)
            if policy == .error {
                if hasConflict || usesMissing(mine, known) { throw Failure.conflict }
            }
            apply(mine, inserted, reinserted, updates, known)
            delete(deletions)
        }

        /// Returns whether a relationship that was assigned, or its owner, is missing.
        private func usesMissing(_ mine: Side, _ known: Set<Key>) -> Bool {
            let changed = mine.changes
            for (key, object) in mine.state.objects {
                for one in key.kind.ones where changed.inserted.contains(key) || changed.edits[key]?.contains(.one(one)) ?? false {
                    if let target = object.ones[one], !known.contains(target) { return true }
                }
            }
            for end in Set(changed.added.keys).union(changed.removed.keys) where mine.state.objects[end.owner] != nil {
                if (changed.added[end] ?? []).isEmpty, (changed.removed[end] ?? []).isEmpty { continue }
                if !known.contains(end.owner) || !(changed.added[end] ?? []).isSubset(of: known) { return true }
            }
            return changed.orders.contains { list, order in
                !order.isEmpty && mine.state.objects[list.owner] != nil && !known.contains(list.owner)
            }
        }

        private mutating func apply(_ mine: Side, _ inserted: [Key], _ reinserted: [Key], _ updates: [Update], _ known: Set<Key>) {
            for key in inserted + reinserted {
                create(key)
                state.objects[key]?.values = mine.state.objects[key]?.values ?? []
            }
            for key in inserted + reinserted {
                for one in key.kind.ones {
                    guard let target = mine.state.objects[key]?.ones[one], known.contains(target) else { continue }
                    state.objects[key]?.ones[one] = target
                    moved(key, one, nil, target)
                }
            }
            for update in updates {
                guard let object = mine.state.objects[update.key], let before = state.objects[update.key] else { continue }
                for field in update.fields {
                    edit(update.key, field)
                    state.objects[update.key]?.copy(field, from: object)
                    if case .one(let one) = field, let target = object.ones[one], !known.contains(target) {
                        state.objects[update.key]?.ones[one] = nil
                    }
                }
                for one in update.key.kind.ones where update.fields.contains(.one(one)) {
                    let new = state.objects[update.key]?.ones[one]
                    if new != before.ones[one] { moved(update.key, one, before.ones[one], new) }
                }
            }
            for (end, keys) in mine.changes.removed where known.contains(end.owner) && mine.state.objects[end.owner] != nil {
                for key in keys.sorted() { unlink(end, key) }
            }
            for (end, keys) in mine.changes.added where known.contains(end.owner) && mine.state.objects[end.owner] != nil {
                for key in keys.sorted() where known.contains(key) { link(end, key) }
            }
            for (list, order) in mine.changes.orders
            where !order.isEmpty && known.contains(list.owner) && mine.state.objects[list.owner] != nil {
                let wanted = order.applied(to: members(list))
                if wanted != members(list) {
                    changes.orders[list] = .whole(wanted)
                    setMembers(list, wanted)
                }
            }
        }

        /// Checks the rules of the model.
        func validate() throws {
            for (key, object) in state.objects where key.kind == .project && object.ones[.owner] == nil { throw Failure.constraint }
            for department in changes.denials where state.objects[department] == nil {
                if !state.sources(.department, department).isEmpty { throw Failure.constraint }
            }
        }

        // MARK: Undo and newer versions

        /// Shows another version: changed objects keep their values.
        mutating func show(_ shown: State) {
            let mine = state
            state = shown
            for key in changes.deleted.keys { state.objects[key] = nil }
            for key in changes.inserted + changes.order { state.objects[key] = mine.objects[key] }
            for end in Set(changes.added.keys).union(changes.removed.keys) {
                var members = state.members(end).filter { !(changes.removed[end]?.contains($0) ?? false) }
                members += (changes.added[end] ?? []).sorted().filter { !members.contains($0) }
                state.links[end] = members
            }
            for key in state.keys(.playlist) {
                state.tracks[key] = state.sources(.playlist, key)
                let list = List(owner: key, isTracks: false)
                setMembers(list, changes.orders[list]?.applied(to: members(list)) ?? members(list))
            }
        }

        /// Restores the state before or after an undo step.
        /// - Parameters:
        ///   - shown: The version that the transaction shows.
        ///   - undone: The values of objects whose changes were undone, when they were read.
        mutating func restore(_ saved: Side, _ shown: State, _ undone: inout [Key: Object]) {
            let now = self
            self = saved
            for (key, base) in now.changes.bases where saved.changes.bases[key] == nil { undone[key] = base }
            for (key, savedBase) in saved.changes.bases {
                let current = now.state.objects[key] ?? now.changes.deleted[key]
                if let base = now.changes.bases[key], let current {
                    changes.bases[key] = base
                    keep(key, current, (saved.changes.edits[key] ?? []).union(now.changes.edits[key] ?? []), saved)
                } else if let object = shown.objects[key] {
                    changes.bases[key] = object
                    keep(key, object, saved.changes.edits[key] ?? [], saved)
                } else {
                    changes.bases[key] = undone[key] ?? savedBase
                }
            }
            show(shown)
        }

        /// Gives an object the current values of the fields that were only read.
        private mutating func keep(_ key: Key, _ current: Object, _ changed: Set<Field>, _ saved: Side) {
            for field in Self.fields(key.kind) where !changed.contains(field) { state.objects[key]?.copy(field, from: current) }
        }
    }
}
