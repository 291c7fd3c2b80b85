import PolyStoreSearch

/// Upper bounds for the score of a term.
struct TermScore {
    private let rank: PhraseRank
    /// The greatest weight of a field.
    private let weight: Double
    private let lengthOffset: Double
    /// A bound for every document.
    private let limit: Double

    init(_ rank: SearchRank, _ phrase: Int) {
        self.rank = rank.phrase(phrase)
        lengthOffset = self.rank.lengthOffset
        weight = rank.weights.max() ?? 0
        limit = self.rank.part(frequency: 1e15, length: 0)
    }

    /// Returns a bound for the postings below a polyline; without a polyline, the bound for every document.
    func bound(_ line: ImpactLine?) -> Double {
        guard let line else { return limit }
        let peak = line.peak(lengthOffset)
        return part(Double(peak.frequency), Double(peak.length))
    }

    /// Returns a bound for a posting below a polyline with a number of occurrences.
    func bound(_ line: ImpactLine?, frequency: Int) -> Double {
        guard let length = line?.length(at: frequency) else { return limit }
        return part(Double(frequency), length)
    }

    /// Returns a bound for a posting below a polyline in a document of a length.
    func bound(_ line: ImpactLine?, length: Int) -> Double {
        line.map { part($0.frequency(at: length), Double(length)) } ?? limit
    }

    /// Returns the lowest frequency with which a posting below a polyline can satisfy a condition on its bound; nil if no frequency can.
    /// - Parameter isHopeful: The condition. If a bound satisfies it, all greater bounds do too.
    func leastFrequency(_ line: ImpactLine?, where isHopeful: (Double) -> Bool) -> Int? {
        guard let line else { return 1 }
        // A polyline need not be concave, so the bound can fall and rise again. Between two pairs it is monotone.
        var low = 1
        for place in 0..<line.count {
            var high = line[place].frequency
            guard isHopeful(bound(line, frequency: high)) else {
                low = high + 1
                continue
            }
            while low < high {
                let middle = (low + high) / 2
                if isHopeful(bound(line, frequency: middle)) { high = middle } else { low = middle + 1 }
            }
            return low
        }
        return nil
    }

    /// Returns the score of a number of occurrences in the field with the greatest weight.
    func part(_ frequency: Double, _ length: Double) -> Double { rank.part(frequency: weight * frequency, length: length) }
}
